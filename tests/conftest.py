"""What every test stands on: a cache of its own, no deadline for property tests."""

import pytest
from hypothesis import settings

settings.register_profile("interp", deadline=None, print_blob=True)
settings.load_profile("interp")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """No test reads or writes the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
