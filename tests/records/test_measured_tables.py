"""Tables of figures that others measured: each says whence, of what, and how well that is known."""

import pytest

import peerlab
from peerlab.base.places import folder
from peerlab.model.paths import IN_NODE
from peerlab.records import measured_for, measured_library
from peerlab.records.copy_times import CopyCost
from peerlab.records.judge import compare

LIBRARY = measured_library()
OWN = [name for name in LIBRARY if name.startswith("own/")]
OTHERS = [name for name in LIBRARY if name not in OWN]


@pytest.mark.parametrize("name", OTHERS)
def test_every_table_has_a_source_and_fits_a_known_cluster(name):
    records = LIBRARY[name]
    cluster = peerlab.load_cluster(records.manifest["cluster"])
    assert len(records.manifest["source"]) > 20
    assert records.manifest["licence"] in (
        "CC0",
        "MIT-0",
        "Apache-2.0",
        "MPL-2.0",
        "not stated; figures only",
    )
    assert records.manifest["verified"] in (
        "read in the source file",
        "values exact, read in an excerpt of the page",
    )
    assert records.manifest["date"]
    inside = {IN_NODE} if cluster.domain_nodes else set()
    assert set(records.table["path"]) <= {*cluster.paths, ""} | inside
    assert set(records.table["kind"]) == {"imported"}
    assert records.sources == [f"{records.manifest['tool']}: {name}"]
    assert records.manifest.get("memory", "device") in ("device", "host")
    assert not records.manifest.get("hosts")


@pytest.mark.parametrize("name", OTHERS)
def test_every_row_has_a_figure_whose_column_names_its_unit(name):
    table = LIBRARY[name].table
    assert (table["time_s"].notna() | table["algbw_GBps"].notna()).all()
    assert (table["ranks"].notna() & table["nodes"].notna()).all()
    assert (table["time_s"].dropna() > 0).all()
    assert (table["size_bytes"].dropna() >= 0).all()
    both = table[table["time_s"].notna() & (table["algbw_GBps"] >= 1)]
    rate = both["size_bytes"].astype(float) / both["time_s"].astype(float) / 1e9
    assert (abs(rate - both["algbw_GBps"].astype(float)) < 0.01 + 0.002 * rate).all()


def test_the_pairs_that_issue_and_model_speak_of_are_there():
    def median(name, size):
        rows = LIBRARY[name].medians()
        rows = rows[
            (rows["size_bytes"] == size) & rows["variant"].isin(["out-of-place", "latency", "bandwidth"])
        ]
        return rows.iloc[0]

    staged, direct = (median(f"juliet/osu-latency-{one}", 2**20)["time_s"] for one in ("staged", "direct"))
    assert staged / direct == pytest.approx(2.25, abs=0.01)
    tcp, rdma = (median(f"alps/nccl-2n8r-{one}", 2**27)["time_s"] for one in ("tcp", "rdma"))
    assert tcp / rdma == pytest.approx(22.59, abs=0.01)
    direct, staged = (median(f"alps/osu-bw-device-{one}", 2**22)["algbw_GBps"] for one in ("rdma", "tcp"))
    assert direct / staged == pytest.approx(13.31, abs=0.01)


def test_a_cluster_gets_its_own_tables_and_others_none():
    assert list(measured_for("p5")) == ["p5/nccl-2n16r-efa"]
    assert {name.partition("/")[0] for name in measured_for("alps-gh200")} == {"alps"}
    assert measured_for("dl1") == {}
    clusters = {LIBRARY[name].manifest["cluster"] for name in OTHERS}
    assert clusters == {
        "a3-mega", "alps-gh200", "alps-gh200-tcp", "azure-nd-a100-v4", "g4dn-8xlarge", "g4dn-metal", "gaudi2", "gb200-nvl72", "h100-ndr", "h200-roce", "juliet",
        "mi250x-slingshot", "mi300x-roce", "p4d", "p5",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("log", "table"),
    [
        ("nccl_cscs_gh200_2n8r_rdma.log", "alps/nccl-2n8r-rdma"),
        ("nccl_aws_p5_2n16r_efa.log", "p5/nccl-2n16r-efa"),
        ("osu_bw_cscs_DD_internode_tcp_staged.log", "alps/osu-bw-device-tcp"),
        ("osu_latency_juliet_DD_gdr0_gdrcopy1.log", "juliet/osu-latency-staged"),
        ("nccl_eks_g4dn_metal_2n2r_efa_nogdr_mpitag.log", "g4dn-metal/nccl-2n2r-efa"),
    ],
)
def test_the_figures_are_those_of_the_logs(reference_dir, log, table):
    columns = ["variant", "size_bytes", "time_s", "algbw_GBps", "busbw_GBps"]
    read = peerlab.load(reference_dir / "logs" / log).table[columns]
    kept = LIBRARY[table].table[columns]
    assert kept[columns[:3]].equals(read[columns[:3]])
    told = read[columns[3:]].to_numpy(float)
    assert kept[columns[3:]].to_numpy(float) == pytest.approx(told, abs=0.006, rel=0.006)


@pytest.mark.parametrize("name", OWN)
def test_our_own_measurement_says_of_which_machine_it_is_and_every_sum_was_exact(name):
    records = LIBRARY[name]
    assert set(records.table["kind"]) == {"measured"}
    assert records.table["correct"].all()
    assert records.manifest["a_a_ratio"]
    assert records.manifest["kernel"]
    at_1_mib = [one for one in compare(records) if one.size_bytes >= 2**20 and one.registration == "none"]
    # Where ranks take turns on a GPU, how the paths compare is not seen.
    if records.manifest.get("mps", True):
        assert all(one.ratio > 1.5 for one in at_1_mib if one.path == "direct")


GPUS = ["h100", "h200"]


def test_there_are_measurements_of_our_own_of_a_processor_and_of_gpus_used_at_once_and_in_turns():
    of_gpus = [f"own/{gpu}-{how}" for gpu in GPUS for how in ("mps", "turns")]
    assert [*of_gpus, "own/xeon-2-processors"] == OWN


@pytest.mark.parametrize("gpu", GPUS)
def test_direct_gains_more_where_ranks_use_a_gpu_at_once(gpu):
    names = f"own/{gpu}-mps", f"own/{gpu}-turns"
    at_once, in_turns = (
        {
            (one.ranks, one.size_bytes): one
            for one in compare(LIBRARY[name])
            if one.path == "direct" and one.registration == "none"
        }
        for name in names
    )
    assert all(at_once[place].ratio > in_turns[place].ratio for place in at_once)
    # Both are quiet: a control compares a thing with itself, and takes turns, too.
    controls = [ratio for name in names for ratio in LIBRARY[name].manifest["a_a_ratio"].values()]
    assert all(1 / 1.15 < ratio < 1.15 for ratio in controls)


def test_two_gpus_of_one_kind_of_server_give_the_same_ratios():
    of_each = [
        {
            (one.ranks, one.size_bytes): one.ratio
            for one in compare(LIBRARY[f"own/{gpu}-mps"])
            if one.path == "direct" and one.registration == "none"
        }
        for gpu in GPUS
    ]
    assert of_each[0] == pytest.approx(of_each[1], rel=0.1)


def copy_costs(gpu):
    return [CopyCost.read(folder("data") / f"measured/own/{gpu}-copies-{run}.json") for run in (1, 2)]


@pytest.mark.parametrize("gpu", GPUS)
def test_copies_on_a_gpu_were_measured_twice_and_agree(gpu):
    first, again = copy_costs(gpu)
    for one, other in zip(first.figures, again.figures, strict=True):
        assert one.key == other.key
        assert max(one.low, other.low) <= min(one.high, other.high)


@pytest.mark.parametrize(
    ("name", "gpu"),
    [
        ("p5en", "h200"),
        ("h200-roce", "h200"),
        ("p5", "h100"),
        ("h100-ndr", "h100"),
        ("h100-roce", "h100"),
        ("a3-mega", "h100"),
    ],
)
def test_clusters_of_a_measured_gpu_say_of_it_what_the_records_say(name, gpu):
    costs = copy_costs(gpu)
    figures = peerlab.load_cluster(name).figures
    rates = [figure.value for cost in costs for figure in cost.figures if figure.key == "device.copy_engine"]
    assert min(rates) <= figures["device.copy_engine"].value <= max(rates)
    regions = [region for cost in costs for region in cost.registrations]
    exported = [region.register_us for region in regions if "DMA-BUF" in region.what]
    assert f"{min(exported):.0f} to {max(exported):.0f} us" in figures["registration.base"].assumption
    pages = [
        region.register_us / (region.size_bytes / 4096)
        for region in regions
        if "DMA-BUF" not in region.what and region.size_bytes == 64 << 20
    ]
    spread = dict.fromkeys(f"{pick(pages):.2f}" for pick in (min, max))
    assert f"{' to '.join(spread)} us a page" in figures["registration.per_page"].assumption
