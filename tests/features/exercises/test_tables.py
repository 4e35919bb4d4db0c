"""Tables say the legend's words."""

import pandas as pd

import peerlab
from peerlab.features.exercises.tables import in_words
from peerlab.model.paths import PATHS, path_title
from peerlab.model.stages import STAGES


def test_no_key_of_a_stage_or_a_path_is_left_in_a_table():
    scenarios = [peerlab.Scenario(path=path) for path in ("host-tcp", "host-rdma", "peer-direct")]
    scenarios += [scenarios[2].with_(registration="per-transfer")]
    for scenario in scenarios:
        parts = peerlab.simulate(scenario).breakdown()
        table = in_words(pd.DataFrame({scenario.path: parts}).assign(which=scenario.path))
        said = {*table.index, *table.columns, *table["which"]}
        assert not said & {*STAGES, *PATHS, "wait"}
        assert path_title(scenario.path) in said
        assert len(table) == len(parts)
