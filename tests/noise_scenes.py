"""Noise of all kinds, as hypothesis draws it for scenarios of a test."""

from hypothesis import strategies as st


@st.composite
def noises(draw):
    """Return fields of a scenario: now none, now one kind, now all of them."""
    fields = {}
    if draw(st.booleans()):
        fields["jitter"] = draw(st.sampled_from([0.01, 0.2, 1.0]))
    if draw(st.booleans()):
        fields["spread"] = draw(st.sampled_from([0.01, 0.3]))
    if draw(st.booleans()):
        fields |= {"detours": 0.05, "detour_us": draw(st.sampled_from([0.5, 40])), "detour_tail": 1.5}
    if draw(st.booleans()):
        fields |= {"ticks": draw(st.sampled_from([300, 20_000])), "tick_us": draw(st.sampled_from([1, 30]))}
    return {**fields, "seed": draw(st.integers(0, 5))} if fields else {}
