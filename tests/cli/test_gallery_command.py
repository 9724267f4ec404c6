from interp.reports.document import plotly_file


def test_a_gallery_leads_to_the_reports_in_a_folder(interp, tiny, tmp_path):
    (tmp_path / "pages").mkdir()
    for name in ("one", "two"):
        out = f"pages/{name}.html"
        assert (
            interp("report", "--ckpt", tiny, "--text", f"About {name}.", "--out", out).status == 0
        )
    done = interp("gallery", "pages", "--title", "Two & pages")
    assert (done.status, done.out, done.err) == (0, "", "gallery: pages/index.html\n")
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {
        "index.html",
        "one.html",
        "two.html",
        plotly_file(),
    }
    index = (tmp_path / "pages" / "index.html").read_text("utf-8")
    assert "Two &amp; pages" in index
    for name in ("one", "two"):
        assert f'href="{name}.html"' in index
        assert f"the text given (“About {name}.”)" in index
    assert index.count('<img src="data:image/svg+xml;base64,') == 2
    assert interp("gallery", "pages", "-q").err == ""


def test_a_report_alone_is_one_file_that_needs_no_other(interp, tiny, tmp_path):
    assert interp("report", "--ckpt", tiny, "--text", "text", "--out", "page.html").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert plotly_file() not in page
    assert "strict-dynamic" not in page
    assert len(page) > 1_200_000


def test_a_folder_without_pages_is_one_line_and_a_hint(interp, tmp_path):
    (tmp_path / "empty").mkdir()
    done = interp("gallery", "empty")
    assert (done.status, done.out) == (1, "")
    assert done.err.splitlines() == [
        "interp: gallery: empty has no page that interp wrote",
        "Write one: interp report FILE --out empty/page.html",
    ]
    assert interp("gallery", "missing").status == 1
    assert list((tmp_path / "empty").iterdir()) == []
