"""An A/B trial on somebody's own machines: the commands that decide which of two data paths is faster, and what came back."""

from peerlab.features.trial.returned import Returned, read_folder
from peerlab.features.trial.trial_folder import read_trial_file, write_trial
from peerlab.study.planned import Trial, plan_trial

__all__ = ["Returned", "Trial", "plan_trial", "read_folder", "read_trial_file", "write_trial"]
