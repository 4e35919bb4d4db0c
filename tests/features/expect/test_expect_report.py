"""The picture of an expectation and of a verdict: red only below the floor, the verdict first."""

import json
import re
from html import escape, unescape

import peerlab
from peerlab.base.document import document_lines, document_markdown
from peerlab.base.units import say_bytes
from peerlab.features.expect.closest_size import LabelBox, closest_label
from peerlab.features.expect.expect_document import closest_of, expectation_document, verdict_document
from peerlab.features.expect.expect_report import expect_page, verdict_html, verdict_in_page
from peerlab.features.expect.expectation import figure
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.log_verdict import LogVerdicts

HEAD = "#       size         count      type   redop    root     time   algbw   busbw #wrong"
SIZES = [1 << power for power in range(16, 34, 2)]


def log(times):
    """Return a log of p4d whose bandwidth at each size is so many times what it should be."""
    rows = peerlab.expect("p4d", sizes=SIZES).rows
    lines = [
        f"{row.size} {row.size // 4} float sum -1 {row.time_s * 1e6 / scale:.2f} {row.expected * scale / 1.875:.2f} {row.expected * scale:.2f} 0"
        for row, scale in zip(rows, times, strict=True)
    ]
    return peerlab.load("\n".join([HEAD, *lines, ""]))


def test_only_points_below_the_floor_are_vermilion():
    (found,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d")
    both = verdict_html([found.as_dict()])
    page = re.sub("<svg class='pl-band pl-at-(?!700).*?</svg>", "", both)  # the same at other widths
    assert found.verdict == "below"
    assert both != page
    assert page.count("<title>") == len(SIZES)
    assert page.count("<circle") == len(SIZES) + 1, "the key of the log has one"
    assert (
        len(re.findall(r"<circle[^>]*fill='var\(--pl-hot\)'", page))
        == sum(row.below for row in found.rows)
        == 4
    )
    assert page.count("class='pl-fault'") == page.count("class='pl-cause'") >= 1
    assert page.index("Below the floor from") < page.index("<svg")
    assert page.index("What would look like this") > page.index("<svg")


def test_a_healthy_log_has_no_vermilion_and_no_cause():
    (found,) = judge(log([1.0] * 9), "p4d")
    page = verdict_html([found.as_dict()])
    assert "hot)" not in page
    assert "What would look like this" not in page


def test_a_page_with_a_list_of_clusters_names_no_option_of_the_command_line():
    text = log([1.0] * 9).rows[0]
    assert text["nodes"] is None  # nothing of it names its machine
    (found,) = judge(log([1.0] * 9))
    assert "with --cluster" in verdict_html([found.as_dict()])
    page = verdict_in_page([found.as_dict()])
    headline = re.search("<b>(.*?)</b>", page)[1]
    assert headline == "Cannot tell: nothing in the log names its machine"  # what to do about it stands below
    assert "--cluster" not in page
    assert "in the list Cluster above" in page


def test_a_page_of_several_runs_has_each_and_fetches_nothing():
    (found,) = judge(log([1.0] * 9), "p4d")
    page = expect_page(verdict_html([found.as_dict()] * 2))
    assert page.count("pl-verdict pl-pass") == 2
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_an_expectation_shows_itself_in_a_notebook():
    shown = peerlab.expect("p4d", sizes=SIZES)._repr_html_()
    widths = re.findall("<svg class='pl-band pl-at-([0-9]+)'", shown)  # a page shows one
    assert len(set(widths)) == shown.count("<svg") == 6
    assert all(re.search(f"pl-at-{wide} {{ display: block;", shown) for wide in widths)
    assert shown.count(">9 of 10 healthy runs</text>") == 6
    assert "16 ranks" in shown
    # the figure that the page begins with is a dot at the end of its line
    assert shown.count("fill='var(--pl-direct-ink)'/>") == 6


def test_no_line_of_the_grid_looks_like_the_ceiling_s_figure():
    """Two nodes of P5: a line for 512 would lie on the dashed one of the ceiling, 518, to which healthy runs reach."""
    shown = peerlab.expect("p5", nodes=2)._repr_html_()
    assert (
        re.search("healthy runs reach [0-9.]+ to [0-9.]+ GB/s, and ([0-9.]+) GB/s is the ceiling<", shown)[1]
        == "518"
    )
    for picture in re.findall("<svg class='pl-band.*?</svg>", shown, flags=re.DOTALL):
        ceiling = float(
            re.search("H?([0-9.]+)' fill='none' stroke='var\\(--pl-muted\\)' [^>]*'6 4'", picture)[1]
        )
        lines = [float(y) for y in re.findall("<path d='M64 ([0-9.]+)H", picture)]
        assert 3 <= len(lines) <= 6
        assert all(abs(y - ceiling) >= 10 for y in lines)


def test_a_line_leads_from_each_curve_s_end_to_its_name_and_their_figures_end_at_one_edge():
    """Two nodes of P5: three curves end within 20 pixels, so that the names of two of them move on."""
    shown = peerlab.expect("p5", nodes=2)._repr_html_()
    for picture in re.findall("<svg class='pl-band.*?</svg>", shown, flags=re.DOTALL):
        wide = int(re.search("viewBox='0 0 ([0-9]+) ", picture)[1])
        named = re.findall(
            "<path d='M([0-9]+) ([0-9.]+)L[0-9]+ ([0-9.]+)' stroke='var\\(--pl-([a-z-]+)\\)'[^>]*/>"
            "<text x='[0-9]+' y='([0-9.]+)' fill='var\\(--pl-([a-z-]+)\\)'>([a-z]+) <tspan x='([0-9]+)' text-anchor='end'>",
            picture,
        )
        assert [name for *_, name, _ in named] == ["ceiling", "expected", "floor"]
        for right, end, middle, role, y, ink, _, edge in named:
            last = int(right) - 8  # so far a curve goes on beyond its last size
            assert re.search(f"{last}(?:.0)? {end}' fill='none' stroke='var\\(--pl-{role}\\)'", picture)
            assert f"<path d='M{last} {end}h8' stroke='var(--pl-{role})'" in picture
            assert ink == role
            assert float(y) == float(middle) + 4
            assert int(edge) == wide


def test_the_log_has_a_key_its_figure_at_its_end_and_points_that_hide_no_curve_s_end():
    """Its end had no figure, where every curve's had one, and its last point lay on the end of what was expected."""
    (found,) = judge(log([1.0] * len(SIZES)), "p4d")
    measured = figure(found.rows[-1].measured)
    for picture in re.findall(
        "<svg class='pl-band.*?</svg>", verdict_html([found.as_dict()]), flags=re.DOTALL
    ):
        wide = re.search("viewBox='0 0 ([0-9]+) ", picture)[1]
        name = f"fill='var\\(--pl-ink\\)' font-weight='700' font-size='16'>log <tspan x='{wide}' text-anchor='end'>{measured}</tspan></text>"
        assert len(re.findall(name, picture)) == 1
        assert re.search("<circle [^>]*/><text x='[0-9.]+' y='12'>log, each size</text>", picture)
        (radius,) = {float(r) for r in re.findall("<circle [^>]*r='([0-9.]+)'[^>]*><title>", picture)}
        (beyond,) = {int(px) for px in re.findall("<path d='M[0-9]+ [0-9.]+h([0-9]+)'", picture)}
        assert radius < beyond


def test_the_points_of_a_log_are_joined_by_the_broadest_line_of_the_picture():
    """The band was the heaviest thing in it, and what the log measured were dots on it."""
    (found,) = judge(log([1.0] * len(SIZES)), "p4d")
    for picture in re.findall(
        "<svg class='pl-band.*?</svg>", verdict_html([found.as_dict()]), flags=re.DOTALL
    ):
        points = re.findall("<circle cx='([0-9.]+)' cy='([0-9.]+)'[^>]*><title>", picture)
        way = "L".join(" ".join(point) for point in points)
        width = re.search(
            f"<path d='M{way}' fill='none' stroke='var\\(--pl-ink\\)' stroke-width='([0-9.]+)'", picture
        )[1]
        curves = re.findall("fill='none' stroke='[^']+' stroke-width='([0-9.]+)'", picture)
        assert max(map(float, curves)) == float(width)
        assert curves.count(width) == 1
        assert float(width) > 3
        assert re.search(
            "stroke='var\\(--pl-muted\\)' stroke-width='[0-9.]+' stroke-dasharray='3 3'", picture
        ), "the floor is grey"
        assert "fill='var(--pl-good-wash)'" in picture


def test_a_single_size_has_one_axis_with_a_figure_at_each_mark():
    page = peerlab.expect("p4d", sizes=["1 GiB"])._repr_html_()
    picture = page[page.index("<svg") : page.index("</svg>")]
    (row,) = peerlab.expect("p4d", sizes=["1 GiB"]).as_dict()["rows"]
    for name in ("floor", "expected", "ceiling"):
        assert f">{figure(row[name])}</text>" in picture
        assert f">{name}</text>" in picture
    assert "2 GiB" not in page


def test_terminal_page_and_markdown_of_a_run_that_is_ill_say_the_same_words():
    (found,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d")
    document = verdict_document(found.as_dict())
    whole = [
        " ".join(text.split()) for text in ("\n".join(document_lines(document)), document_markdown(document))
    ]
    page = unescape(re.sub(r"<[^>]*>", " ", verdict_html([found.as_dict()])))
    flat = " ".join(page.split())
    for text in (*whole, flat):
        plain = text.replace("\\", "")
        # a page begins with how much of it is there
        assert all(part in plain for part in f"B{found.why[1:]}".split(": "))
        # a page has the causes' names beside their commands alone
        because = found.because if text is not flat else found.because.partition(": ")[0]
        assert because.replace("`", "") in plain.replace("`", "")
        for cause in found.causes[:5]:
            assert f"{100 * cause.explains:.0f} %" in plain
            assert cause.decides.split("`")[1] in plain


def test_every_per_cent_of_an_answer_stands_behind_a_space():
    """One spelling, the field's: 69 %, in sentences, tables and files."""
    (ill,), (well,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d"), judge(log([1.0] * 9), "p4d")
    asked = peerlab.expect("p4d", sizes=SIZES)
    documents = [verdict_document(one.as_dict()) for one in (ill, well)] + [
        expectation_document(asked.as_dict())
    ]
    texts = [document_markdown(one) for one in documents] + [
        verdict_html([ill.as_dict()]),
        json.dumps(ill.as_dict()),
    ]
    texts = [re.sub(r"<style>.*?</style>|style='[^']*'", "", text, flags=re.DOTALL) for text in texts]
    assert any("%" in text for text in texts)
    assert not [wrong for text in texts for wrong in re.findall(r".{20}\d%.{10}", text)]


def test_a_run_that_is_well_says_what_one_log_cannot_rule_out():
    """A missing NIC and ACS redirect cost an H100 less than healthy runs differ: where NVLink limits no log shows them."""
    h100 = peerlab.load_cluster("h100-ndr")
    rows = peerlab.expect(h100, sizes="8MiB:8GiB").rows
    lines = [
        f"{row.size} {row.size // 4} float sum -1 {row.time_s * 1e6:.2f} {row.expected / 1.875:.2f} {row.expected:.2f} 0"
        for row in rows
    ]
    (found,) = judge(peerlab.load("\n".join([HEAD, *lines, ""]), 2), h100)
    unseen = {fault.name: fault for fault in found.unseen}
    assert {"one NIC is missing", "ACS redirect"} <= set(unseen)
    assert "half of the NICs carry everything" not in unseen  # that one would be below
    assert all(fault.GBps >= fault.floor for fault in unseen.values())
    page = verdict_html([found.as_dict()])
    assert "What one log cannot rule out" in page
    assert "ReqRedir+" in page
    (ill,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d")
    assert not ill.unseen


def test_a_log_shows_itself_in_a_notebook_and_says_what_to_name_in_the_words_of_python():
    verdicts = peerlab.expect(log=log([1.0] * 9))
    page = verdicts._repr_html_()
    assert re.search("<b>(.*?)</b>", page)[1] == "Cannot tell: nothing in the log names its machine"
    assert "with the argument cluster" in page
    assert "--cluster" not in page + repr(verdicts)
    # twelve names have no room in a sentence
    names = re.search("<summary>([0-9]+) known clusters that may be it</summary>(.*?)</details>", page)
    assert names[2].count("<code>") == int(names[1]) > 4
    assert "such as" not in page
    assert "<td class='pl-number'>-</td>" not in page  # what nothing is known of has no columns
    assert isinstance(verdicts, tuple)
    assert repr(verdicts) == repr(verdicts[0])


def test_two_runs_of_a_log_are_one_report():
    verdict = peerlab.expect("p4d", log=log([1.0] * 9))[0]
    both = LogVerdicts([verdict, verdict])
    assert both._repr_html_().count("<h4>Run ") == 2
    assert repr(both).splitlines()[1] == f"run 2 of 2: {verdict!r}"


def test_a_page_names_each_fault_once_beside_its_command():
    (found,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d")
    page = re.sub("<svg.*?</svg>", "", verdict_html([found.as_dict()]), flags=re.DOTALL)
    verdict = re.search("<p class='pl-verdict.*?</p>", page)[0]
    assert found.causes
    for cause in found.causes:
        assert cause.name not in verdict
        assert page.lower().count(f"<b>{escape(cause.name).lower()}</b>") <= 1


def test_a_healthy_run_says_which_size_comes_closest_to_its_floor():
    (found,) = judge(log([1.0] * 4 + [0.9] + [1.0] * 4), "p4d")
    row = min(found.as_dict()["rows"], key=lambda row: row["measured"] / row["floor"])
    page = verdict_html([found.as_dict()])
    said = f"Closest to its floor is {say_bytes(row['size'])}: {figure(row['measured'])} GB/s, where the floor is {figure(row['floor'])}."
    assert said in re.search("<p class='pl-verdict pl-pass.*?</p>", page)[0]
    assert said in " ".join("\n".join(document_lines(verdict_document(found.as_dict()))).split())
    (ill,) = judge(log([1.0] * 5 + [0.4] * 4), "p4d")
    assert "Closest to its floor" not in verdict_html([ill.as_dict()])


def test_names_and_commands_of_what_to_name_are_code_so_no_line_breaks_them():
    (found,) = judge(log([1.0] * 9))
    page = verdict_html([found.as_dict()])
    verdict = re.search("<p class='pl-verdict.*?</p>", page)[0]
    assert "<code>h100-ndr</code>" in page
    assert "<code>peerlab clusters draft my.toml --from topo.xml</code>" in verdict


def test_the_cluster_that_a_page_shows_is_the_logs_unless_the_log_contradicts_it():
    (found,) = judge(log([1.0] * 9), chosen=peerlab.load_cluster("p4d"))
    assert (found.verdict, found.cluster) == ("healthy", "p4d")
    (found,) = judge(log([1.0] * 9), chosen=peerlab.load_cluster("dl1"))
    page = verdict_in_page([found.as_dict()])
    assert re.search("<b>(.*?)</b>", page)[1] == "Cannot tell: nothing in the log names its machine"
    assert "Name it in the list Cluster above; or describe it with <code>" in page
    assert "It is not from Gaudi DL1, which is shown: nccl-tests does not run on Gaudi, " in page


def test_the_closest_size_is_named_where_no_line_is_in_the_way_and_the_axis_bounds_what_is_drawn():
    """The sentence was about a point without a name, and the band ended below the lowest figure of the axis."""
    (found,) = judge(log([1.0, 1.0, 0.9, *[1.0] * (len(SIZES) - 3)]), "p4d")
    verdict = found.as_dict()
    closest = closest_of(verdict)
    shown = verdict_html([verdict])
    says = f">{figure(closest['measured'])}, floor {figure(closest['floor'])}</text>"
    for picture in re.findall("<svg class='pl-band.*?</svg>", shown, flags=re.DOTALL):
        assert picture.count("class='pl-closest'") == picture.count(says) <= 1
        bottom = max(float(y) for y in re.findall("<path d='M64 ([0-9.]+)H", picture))
        assert all(
            float(y) < bottom for y in re.findall("<circle cx='[0-9.]+' cy='([0-9.]+)'[^>]*><title>", picture)
        )


def test_a_name_keeps_off_every_line():
    row = {"size": 100, "measured": 50, "floor": 40}
    place = LabelBox(0, 400, 0, 400)

    def label(*ways):
        return closest_label(row, lambda size: 2 * size, lambda rate: 400 - 2 * rate, ways, place)

    assert "50, floor 40" in label([(0, 40), (200, 40)])
    assert label([(0, 31), (200, 31)], [(0, 59), (200, 59)]) == ""
