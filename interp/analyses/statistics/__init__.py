"""Estimates and tests that know that gaps and bytes of one document are alike."""

from interp.analyses.statistics.areas import clustered_auc, paired_auc_difference, tied_pair_share
from interp.analyses.statistics.estimate import LEVEL, NEGLIGIBLE, Estimate
from interp.analyses.statistics.means import clustered_mean, paired_difference
from interp.analyses.statistics.multiple import holm
from interp.analyses.statistics.precision import average_precision
from interp.analyses.statistics.ranks import (
    RankCorrelation,
    SignedRank,
    spearman,
    wilcoxon_signed_rank,
)
from interp.analyses.statistics.shifts import ShiftNull, shift_null
from interp.analyses.statistics.thresholds import every_gap_scores, threshold_scores

__all__ = [
    "LEVEL",
    "NEGLIGIBLE",
    "Estimate",
    "RankCorrelation",
    "ShiftNull",
    "SignedRank",
    "average_precision",
    "clustered_auc",
    "clustered_mean",
    "every_gap_scores",
    "holm",
    "paired_auc_difference",
    "paired_difference",
    "shift_null",
    "spearman",
    "threshold_scores",
    "tied_pair_share",
    "wilcoxon_signed_rank",
]
