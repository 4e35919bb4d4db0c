"""The one door from a result to the picture that a notebook shows of it.

A picture knows the result that it draws; a result knows no picture. So a type of result takes its ``_repr_html_`` from here, as in
``_repr_html_ = show_run``, and the picture is imported when a notebook asks for it. These imports are the only ones that point up;
the contract of the layers in pyproject.toml names them. Elsewhere a result is its `repr`, one line of text.
"""

from dataclasses import asdict
from typing import Any


def show_run(one: Any) -> str:
    """Return a still of a `Run` with its figures."""
    from peerlab.picture.still import still_html

    return still_html(one)


def show_gain(one: Any) -> str:
    """Return a `GainBand` as a picture of what is not known, with its sentence."""
    from peerlab.picture.how_sure import how_sure_html

    return how_sure_html(one)


def write_trace(one: Any, path: Any) -> None:
    """Write every span of a `Run` as a Chrome trace."""
    from peerlab.features.export.perfetto import write_perfetto

    write_perfetto(one.trace, path, repr(one))


def show_race(one: Any) -> str:
    """Return a `Race` in a frame that plays it."""
    from peerlab.features.race.race_page import race_frame

    return race_frame(one)


def show_choices(one: Any) -> str:
    """Return a `ChoiceMap` as a picture with its table."""
    from peerlab.features.choices.choice_report import choices_html

    return choices_html(one)


def show_expectation(one: Any) -> str:
    """Return an `Expectation` as a picture with its table."""
    from peerlab.features.expect.expect_report import expectation_html

    return expectation_html(one.as_dict())


def show_verdict(one: Any) -> str:
    """Return a `LogVerdict`: the verdict, its picture, and what would look like it."""
    from peerlab.features.expect.expect_report import verdict_html

    return verdict_html([one.as_dict()])


def show_records(one: Any) -> str:
    """Return the medians of `Records` as a table, with where they come from."""
    from peerlab.features.measure.records_table import html_table

    return html_table(one.medians(), one.manifest, one.warnings)


def show_ratios(one: Any) -> str:
    """Return `Ratios` with their quartiles, the noise behind them and a verdict each."""
    from peerlab.features.measure.ratios import ratios_html

    return ratios_html(one)


def show_fabrics(one: Any) -> str:
    """Return a `FabricComparison` as bars on one axis, with the figures of each transport."""
    from peerlab.features.fabrics.fabric_report import fabrics_html

    return fabrics_html(one)


def show_steps(one: Any) -> str:
    """Return the `Steps` of a collective, to be walked through."""
    from peerlab.features.exercises.steps import steps_html

    return steps_html(one.walk)


def show_diagnosis(one: Any) -> str:
    """Return a `Diagnosis` with its evidence."""
    from peerlab.features.diagnose.diagnosis_report import diagnosis_html

    return diagnosis_html(one.as_dict())


def show_calibration(one: Any) -> str:
    """Return a `Calibration`: its constants, and the fit size by size."""
    from peerlab.features.calibrate.calibration_report import calibration_html

    return calibration_html(one.as_dict())


def show_doctor(one: Any) -> str:
    """Return the doctor's `Report`: a verdict, and what each check read."""
    from peerlab.features.doctor.doctor_report import report_html

    return report_html(one)


def show_pin_cost(one: Any) -> str:
    """Return a `PinCost`: what registering took, by size."""
    from peerlab.features.measure.pin_cost_report import cost_html

    return cost_html(one.table.to_dict("records"), one.notes)


def show_refusal(one: Any) -> str:
    """Return a `Refusal` of the kernel, with what helps."""
    from peerlab.features.measure.pin_cost_report import refusal_html

    return refusal_html(**asdict(one))


def show_lab_log(one: Any) -> str:
    """Return the text of a `LabLog`."""
    from peerlab.features.exercises.lesson_style import log_html

    return log_html(one.name, one.text)


def show_folded(one: Any) -> str:
    """Return what is `Folded` below its line."""
    from peerlab.features.exercises.lesson_style import folded_html

    return folded_html(one.says, one.shown._repr_html_())


def show_sums(one: Any) -> str:
    """Return the sums of `TrainingSums` over a registration cache, step by step."""
    from peerlab.features.exercises.lesson_style import sums_html

    return sums_html(one)


def show_step(one: Any) -> str:
    """Return a `StepRun` in a frame that plays it, and below it in figures."""
    from peerlab.features.step.step_page import step_frame
    from peerlab.features.step.step_report import step_html

    return step_frame(one) + step_html(one)


def write_step_trace(one: Any, path: Any) -> None:
    """Write a `StepRun` as a Chrome trace."""
    from peerlab.features.export.perfetto import write_step

    write_step(one, path)


def show_profiled(one: Any) -> str:
    """Return a `ProfiledTraining`: its steps as recorded and as replayed."""
    from peerlab.features.step.step_report import profiled_html

    return profiled_html(one)
