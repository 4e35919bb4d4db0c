"""Which data path is a log from, and what would Peer Direct bring?"""

from peerlab.study.diagnosis.diagnose import CANNOT_TELL, Diagnosis, Explanation, diagnose
from peerlab.study.diagnosis.evidence import Evidence
from peerlab.study.diagnosis.forecast import Forecast
from peerlab.study.diagnosis.knowledge import PATHS, TOLD, Check

__all__ = ["CANNOT_TELL", "PATHS", "TOLD", "Check", "Diagnosis", "Evidence", "Explanation", "Forecast", "diagnose"]
