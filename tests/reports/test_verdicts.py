from interp.reports.verdicts import Verdict, side_by_side, verdict_list


def test_every_claim_stands_with_its_numbers_and_its_answer():
    shown = verdict_list(
        [Verdict("It is so.", "0.97", "0.5", "Not repeated."), Verdict("And so.", "", "1", "Yes.")]
    )
    assert "<h3>It is so.</h3>" in shown
    assert "<dt>Published</dt><dd>0.97</dd><dt>Here</dt><dd>0.5</dd>" in shown
    assert "<dt>Verdict</dt><dd><strong>Not repeated.</strong></dd>" in shown
    assert shown.count("<dt>Published</dt>") == 1  # nothing was published of the second


def test_the_first_column_names_the_rows():
    shown = side_by_side("Losses", ["model", "here"], [["rope", "1.07"], ["shared", "1.08"]])
    assert '<th scope="row">rope</th><td class="number">1.07</td>' in shown
    assert '<th scope="col">model</th><th scope="col" class="number">here</th>' in shown
    assert 'aria-label="Losses"' in shown


def test_nothing_in_a_claim_or_a_cell_acts():
    claim = verdict_list([Verdict("<b>", "<i>", "<u>", "<s>")])
    cells = side_by_side("<b>", ["<i>"], [["<u>", "<s>"]])
    for tag in ("<b>", "<i>", "<u>", "<s>"):
        assert tag not in claim
        assert tag not in cells
