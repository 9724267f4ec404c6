"""scikit-learn's area under the ROC curve, which has no interval."""

import numpy as np
from sklearn.metrics import roc_auc_score


def area(labels: np.ndarray, scores: np.ndarray) -> float:
    """The area."""
    return float(roc_auc_score(labels, scores))
