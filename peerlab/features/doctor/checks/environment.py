"""Whether an environment variable takes the way away."""

from peerlab.features.doctor.check import ALL_RDMA, FAIL, PASS, WARN, Check, Seen
from peerlab.features.doctor.checks.variables import RULES, VariableRule
from peerlab.features.doctor.host import Host


def _environment(host: Host) -> Seen:
    hits = [rule for rule in RULES if rule.hits(host)]
    if not hits:
        return Seen(PASS, "no variable that takes the way away")
    worst = FAIL if any(rule.status == FAIL for rule in hits) else WARN
    # What blocks stands first: of a long list a report shows 400 characters.
    hits.sort(key=lambda rule: rule.status != FAIL)
    blocks = tuple(path for path in ALL_RDMA if any(path in rule.blocks for rule in hits))
    text = "; ".join(f"{_say_setting(host, rule)}: {rule.does}" for rule in hits)
    mend, source = (
        "; ".join(dict.fromkeys(texts))
        for texts in zip(*((rule.mend, rule.source) for rule in hits), strict=True)
    )
    return Seen(
        worst,
        text,
        cause="; ".join(dict.fromkeys(_say_setting(host, rule) for rule in hits if rule.status == worst)),
        mend=f"{mend}; mpirun passes on only what -x names.",
        source=source,
        blocks=blocks,
    )


def _say_setting(host: Host, rule: VariableRule) -> str:
    """Return what is set, verbatim."""
    names = rule.variable.split(", ")
    sentences = [f"{name}={host.environment[name][:40]}" for name in names if name in host.environment]
    return ", ".join(sentences) or f"{rule.variable} is not set"


CHECKS = (
    Check(
        id="environment",
        title="Environment variables",
        where="the environment: NCCL_*, HCCL_*, FI_*, UCX_*, RDMAV_*, MLX5_*, OFI_NCCL_*",
        rule="none that forces host memory or TCP, or switches the registration cache off",
        why="One variable left in a job script undoes everything else, and no library complains.",
        mend="Unset them, here and in job scripts; mpirun passes on only what -x names.",
        source="each variable has its own: docs/doctor.md",
        look=_environment,
        blocks=ALL_RDMA,
    ),
)
