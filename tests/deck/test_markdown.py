"""An outline in Markdown says the same as one in TOML, and what is wrong in it with its line."""

import pytest

from peerlab.cli import main
from peerlab.deck.outline import DEFAULT_TITLE, REVIEW, Plan, read_outline
from peerlab.deck.training import Training
from peerlab.errors import ExportError

MARKDOWN = """# Why Peer Direct

For the board,
in November
- cluster: p4d
- nodes: 4
- message: 16 MiB
- gradient: 1 GB
- step time: 1
- overlap: 0.25

## detour: Today
Say that it is slow.

Ask who knew.
> On the slide.
## Questions: ours
> One.
>
> Two.
"""


def written(folder, text, name="review.md"):
    file = folder / name
    file.write_text(text)
    return file


def test_markdown_is_read_as_its_toml_would_be(tmp_path):
    toml = """title = "Why Peer Direct"
subtitle = "For the board, in November"
scenario = { cluster = "p4d", nodes = 4, message_bytes = "16 MiB" }
training = { gradient_bytes = "1 GB", step_time_s = 1, overlap_share = 0.25 }
[[slide]]
show = "title"
[[slide]]
show = "detour"
title = "Today"
text = "On the slide."
notes = "Say that it is slow.\\n\\nAsk who knew."
[[slide]]
title = "Questions: ours"
text = "One.\\n\\nTwo."
"""
    found = read_outline(written(tmp_path, MARKDOWN))
    assert found == read_outline(written(tmp_path, toml, "review.toml"))
    assert found.training == Training(gradient_bytes=10**9, step_time_s=1.0, overlap_share=0.25)
    assert found.slides[1] == Plan(
        "detour", "Today", "On the slide.", "Say that it is slow.\n\nAsk who knew."
    )


def test_a_title_alone_is_the_whole_review(tmp_path):
    found = read_outline(written(tmp_path, f"# {DEFAULT_TITLE}\n", "review.MD"))
    assert [plan.show for plan in found.slides] == list(REVIEW)


def test_a_share_of_the_step_is_as_good_as_bytes(tmp_path):
    found = read_outline(written(tmp_path, "# A\n- communication: 40 %\n- step time: 0.3\n- overlap: 60%\n"))
    assert found.training == Training(communication_share=0.4, step_time_s=0.3, overlap_share=0.6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "review.md is empty: it begins with # and the title of the deck"),
        ("hello", "review.md, line 1: words before the title"),
        ("\n## detour", "review.md, line 2: a slide before the title"),
        ("# A\n# B", "review.md, line 2: a second # line; slides begin with ##"),
        ("# A\n## detuor", "review.md, line 2: 'detuor' is no kind of slide; did you mean 'detour'"),
        ("# A\n### detour", "review.md, line 2: '### detour': write ##, a space and words"),
        ("#A", "review.md, line 1: '#A': write #, a space and words"),
        ("# A\n- nodes", "review.md, line 2: 'nodes' says nothing"),
        ("# A\n- nodes: 2\n- nodes: 3", "review.md, line 3: nodes is given twice"),
        ("# A\n- overlap: 2", "training: step_time_s is missing"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, says):
    with pytest.raises(ExportError) as problem:
        read_outline(written(tmp_path, text))
    assert str(problem.value).startswith(says)


def test_the_command_takes_one_outline(tmp_path, capsys):
    file = written(tmp_path, "# A\n## Why not\n")
    assert main(["deck", "--outline", str(file), "--output", str(tmp_path / "deck")]) == 0
    assert "Why not" in (tmp_path / "deck" / "index.html").read_text()
    assert main(["deck", str(file), "--outline", str(file), "--output", str(tmp_path / "deck")]) != 0
    assert "two outlines" in capsys.readouterr().err
