"""An outline is Markdown with YAML above it; what is wrong in it is said with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.base.errors import ExportError
from peerlab.cli import main
from peerlab.features.deck.reading.markdown import read_markdown
from peerlab.features.deck.reading.outline import (
    DEFAULT_TITLE,
    KINDS,
    REVIEW,
    Outline,
    SlidePlan,
    read_outline,
)
from peerlab.features.deck.training import Training

OUTLINE = """---
title: Why Peer Direct
subtitle: For the board,
  in November
scenario:
  cluster: p4d
  nodes: 4
  message_bytes: 16 MiB   # a tenth of ours
training: {gradient_bytes: 1 GB, step_time_s: 1, overlap_share: 25 %}
---

## detour: Today
Say that it is slow.

Ask who knew.
> On the slide.

## Questions: ours
> One.
>
> Two.

A note with a rule
---
and code:
```
## not a slide
```

> Three.
"""


def written(folder, text, name="review.md"):
    file = folder / name
    file.write_text(text)
    return file


def test_an_outline_says_title_scenario_training_and_slides(tmp_path):
    assert read_outline(written(tmp_path, OUTLINE)) == Outline(
        title="Why Peer Direct",
        subtitle="For the board, in November",
        scenario={"cluster": "p4d", "nodes": 4, "message_bytes": "16 MiB"},
        training=Training(gradient_bytes=10**9, step_time_s=1.0, overlap_share=0.25),
        slides=(
            SlidePlan("title"),
            SlidePlan("detour", "Today", "On the slide.", "Say that it is slow.\n\nAsk who knew."),
            SlidePlan(
                "text",
                "Questions: ours",
                "One.\n\nTwo.\n\nThree.",
                "A note with a rule\n---\nand code:\n```\n## not a slide\n```",
            ),
        ),
    )


@pytest.mark.parametrize(
    "text", [f"---\ntitle: {DEFAULT_TITLE}\n---\n", "---\n---\n", "---\nscenario: {nodes: 8}\n..."]
)
def test_without_slides_it_is_the_whole_review(tmp_path, text):
    found = read_outline(written(tmp_path, text, "review.MD"))
    assert found.title == DEFAULT_TITLE
    assert [plan.show for plan in found.slides] == list(REVIEW)


def test_without_yaml_it_is_slides_alone():
    found = read_markdown("## detour ##\n## title: Ours\n", "review.md", KINDS)
    assert [(slide["show"], slide["title"]) for slide in found["slides"]] == [
        ("detour", ""),
        ("title", "Ours"),
    ]


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("no", "no"),
        ("off", "off"),
        ("2026-01-02", "2026-01-02"),
        ("1:30", "1:30"),
        ("010", 10),
        ("0x10", "0x10"),
        ("1e2", 100.0),
        ("true", True),
        ('"8"', "8"),
        ("!!python/object/apply:os.getcwd {}", None),
        ("!!binary aGk=", "aGk="),
        ("~", "~"),
    ],
)
def test_a_value_is_what_is_written_and_not_what_yaml_makes_of_it(written, means):
    text = f"---\nscenario:\n  cluster: {written}\n---\n"
    if means is None:
        with pytest.raises(ExportError, match=r"^x\.md, line 3: cluster is one value, no list and no table$"):
            read_markdown(text, "x.md", KINDS)
        return
    value = read_markdown(text, "x.md", KINDS)["scenario"]["cluster"]
    assert (value, type(value)) == (means, type(means))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "review.md is empty: title and scenario stand above the slides between two lines of ---"),
        ("hello", "review.md, line 1: words above the first slide; title and scenario stand above"),
        ("---\ntitle: A\n---\n\n[a]: b\n## Why not\n", "review.md, line 5: words above the first slide"),
        ("---\ntitle: A\n## Why not\n", "review.md, line 1: the YAML that begins here has no end"),
        ("---\ntitle: A\n---\n# A", "review.md, line 4: # A begins no slide; title and scenario stand above"),
        ("## Why not\n### detour", "review.md, line 2: ### detour begins no slide"),
        ("## Why not\n## detuor", "review.md, line 2: 'detuor' is no kind of slide; did you mean 'detour'"),
        ("## Why not\n\n##detour", "review.md, line 3: '##detour': write ##, a space and words"),
        ("## Why not\n##\n", "review.md, line 2: a slide without words"),
        ("## Why not\n> shown\nnot shown", "review.md, line 3: words right below >; begin the line with > too"),
        ("---\ntitel: A\n---", "review.md, line 2: 'titel' is unknown; did you mean 'title'? known: title,"),
        ("---\nscenario:\n  node: 2\n---", "review.md, line 3: 'node' is unknown; did you mean 'nodes'?"),
        ("---\nscenario:\n  nodes: 2\n  nodes: 3\n---", "review.md, line 4: nodes is given twice"),
        ("---\nscenario:\n  nodes:\n---", "review.md, line 3: nodes has no value"),
        ("---\nscenario: 3\n---", "review.md, line 2: scenario is a line of its own with its fields indented"),
        ("---\ntitle: [A]\n---", "review.md, line 2: title is one value, no list and no table"),
        ("---\n- title\n---", "review.md, line 2: the front matter is lines such as title: Why Peer Direct"),
        ("---\ntitle: A: B\n---", "review.md, line 2: mapping values are not allowed here"),
        ("---\ntitle: *A\n---", "review.md, line 2: found undefined alias 'A'"),
        ("---\n&a title: &b [*b]\n---", "review.md, line 2: title is one value"),
        ("---\n<<: &a [x]\n---", "review.md, line 2: '<<' is unknown"),
        ("---\ntraining:\n  overlap_share: 2\n---", "review.md, line 3: training: step_time_s is missing"),
        ("---\ntitle: \x07\n---", "review.md: the front matter is no YAML: unacceptable character #x0007"),
        ("---\ntitle: " + 8000 * "[" + "\n---", "review.md: the front matter is no YAML: maximum recursion"),
        ("---\n%YAML " + 9000 * "9" + "\n---", "review.md: the front matter is no YAML: Exceeds the limit"),
        ('---\ntitle: "\\UFFFFFFFF"\n---', "review.md: the front matter is no YAML: Python int too large"),
        ("---\ntitle: " + 2**14 * "x" + "\n---", "review.md: the front matter is larger than 16 KiB"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, says):
    with pytest.raises(ExportError) as problem:
        read_outline(written(tmp_path, text))
    assert str(problem.value).startswith(says)


def test_aliases_cannot_multiply():
    tens = "".join(f"a{n}: &a{n} [{', '.join(['*a' + str(n - 1)] * 10)}]\n" for n in range(1, 30))
    with pytest.raises(ExportError, match="line 2: 'a0' is unknown"):
        read_markdown(f"---\na0: &a0 [x]\n{tens}---\n", "x.md", KINDS)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (
            "review.toml",
            'title = "A"\n[[slide]]\nshow = "detour"\n',
            "review.toml: an outline is Markdown now, in a file such as review.md: title, subtitle, scenario: and training: as",
        ),
        ("review.md", "# A\n- nodes: 8\n## detour\n", "review.md, line 1: # A begins no slide; title and scenario"),
        ("review", 'title = "A"\n', "review, line 1: words above the first slide; title and scenario stand"),
    ],
)  # fmt: skip
def test_an_outline_of_0_1_0_is_told_how_it_is_written_now(tmp_path, capsys, name, text, says):
    file = written(tmp_path, text, name)
    assert main(["deck", str(file), "--output", str(tmp_path / "deck")]) == 1
    out, problem = capsys.readouterr()
    assert out == ""
    assert problem.startswith(f"peerlab: {says}")
    assert problem.count("\n") == 1
    assert not (tmp_path / "deck").exists()


@given(
    st.lists(
        st.sampled_from(
            ["---", "## detour", "## ", "# A", "> a", "b", "title: c", "- d", "", "```", "\tscenario:"]
        )
    )
)
def test_any_lines_are_refused_in_words_or_only_quoted_ones_stand_on_slides(lines):
    try:
        found = read_markdown("\n".join(lines), "x.md", KINDS)
    except ExportError:
        return
    assert set("".join(slide.get("text", "") for slide in found["slides"])) <= {"a", "\n"}


def test_the_example_of_the_command_is_an_outline(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["deck", "--help"])
    example = capsys.readouterr().out.partition("in this order:\n")[2].partition("\nkinds of slides:")[0]
    found = read_outline(written(tmp_path, "\n".join(line[2:] for line in example.splitlines())))
    assert found.scenario == {"cluster": "dl1", "nodes": 8}
    assert [plan.title for plan in found.slides] == ["", "Today", "A slide of your own"]


def test_the_command_takes_one_outline(tmp_path, capsys):
    file = written(tmp_path, "---\ntitle: A\n---\n## Why not\n")
    assert main(["deck", "--outline", str(file), "--output", str(tmp_path / "deck")]) == 0
    assert "Why not" in (tmp_path / "deck" / "index.html").read_text()
    assert main(["deck", str(file), "--outline", str(file), "--output", str(tmp_path / "deck")]) != 0
    assert "two outlines" in capsys.readouterr().err
