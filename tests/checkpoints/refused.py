"""How a test asks for a checkpoint that must be refused."""

import pytest
from bad_inputs import has_run_code

from interp.checkpoints import load
from interp.errors import CheckpointError


def refusal(path: object, error: type[Exception] = CheckpointError) -> str:
    with pytest.raises(error) as caught:
        load(str(path))
    assert len(str(caught.value).splitlines()) == 1
    assert not has_run_code()
    return str(caught.value)
