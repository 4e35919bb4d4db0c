"""Tables of labs 08 and 12: every quote stands beside what peerlab finds, and stays folded until a reader guessed."""

import json

import pytest

import peerlab
from peerlab.base.places import folder
from peerlab.features.exercises.labs import clean_fabrics, quoted_tables, whose_figures
from peerlab.features.exercises.lessons.solved import asked
from peerlab.features.exercises.tables import folded
from peerlab.model.algorithms import ALGORITHMS

LABS = [
    folder("labs") / name for name in ("08_fabrics_side_by_side.ipynb", "12_whose_figures_are_these.ipynb")
]


def test_sharp_is_held_against_the_fastest_algorithm_that_needs_no_switch():
    table = quoted_tables.sharp_table()
    others = [
        name
        for name, one in ALGORITHMS.items()
        if "allreduce" in one.collectives and not (one.in_network or one.library or one.several_devices)
    ]
    for (nodes, size), row in table.iterrows():
        asked_for = clean_fabrics.RING.with_(nodes=nodes, message_bytes=size)
        times = [peerlab.simulate(asked_for.with_(algorithm=name)).time_s * 1e6 for name in others]
        assert row["its time, µs"] == pytest.approx(min(times))
    assert table.loc[(2, "8 KiB"), "times as fast"] < 1
    assert set(table.xs("8 KiB", level="message")["best without SHARP"]) == {"recursive-doubling"}


def test_the_particle_code_comes_to_an_end_of_its_gain():
    gains = whose_figures.halo_table()["times as fast"]
    assert gains.is_monotonic_increasing
    assert gains.iloc[-1] - gains.iloc[-2] < 0.01 < gains.iloc[1] - gains.iloc[0]


@pytest.mark.parametrize(
    "table",
    [
        quoted_tables.brochure,
        quoted_tables.tcp_cores,
        quoted_tables.latencies,
        quoted_tables.places,
        quoted_tables.gpt3,
        quoted_tables.storage,
        whose_figures.halo_table,
    ],
)
def test_every_table_has_what_is_quoted_beside_what_is_found(table):
    columns = list(table().columns)
    assert any("quoted" in name for name in columns)
    assert any("quoted" not in name for name in columns)


def test_what_waiting_costs_is_reckoned_from_the_readers_watts_and_price():
    table = quoted_tables.waiting(4010, 0.5, 64)
    assert table.loc["1%", "kWh a year"] == pytest.approx(0.01 * 64 * 4.010 * 8766)
    assert (table["price a year"] == 0.5 * table["kWh a year"]).all()


def test_a_folded_table_rounds_alike_and_leaves_out_what_is_missing():
    page = folded(quoted_tables.gpt3(), 0)._repr_html_()
    assert page.startswith("<details><summary>Guess first")
    assert "NaN" not in page
    assert "&lt;NA&gt;" not in page
    assert "<td>798</td>" in page


@pytest.mark.parametrize("lab", LABS, ids=lambda path: path.stem)
def test_a_guess_or_an_exercise_stands_above_every_table_and_no_table_is_open(lab):
    stored = json.loads(lab.read_text(encoding="utf-8"))["cells"]
    cells = ["".join(cell["source"]) for cell in stored if cell["cell_type"] == "code"]
    guessed = False
    for cell in cells:
        guessed = guessed or "peerlab.predict(" in cell or asked(cell) is not None
        if "quoted_tables." in cell or "_table()" in cell:
            assert guessed
            assert "folded(" in cell or "peerlab.predict(" in cell
        if "folded(" in cell and "tables import" not in cell:
            guessed = False
