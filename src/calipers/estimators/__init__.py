"""Metric learners with scikit-learn's contract, one a file.

Read `base` (fit, and what it keeps), `checks` (the one entry), then any learner.

============= ==========================================================================
module        what learners share
============= ==========================================================================
base          the public methods to fit; the only code that sets attributes
checks        input is checked once; `Given` holds it
one_round     learners that feed triplets or pairs to one solver
closed_forms  formulas of second moments, in one fit or in a stream
minimisers    objectives of all samples by L-BFGS (LMNN, MMC, MCML, NCA, MLKR)
comparison    candidates on folds, and the simplest of the best (MetricCV)
============= ==========================================================================

============ ===========================================================================
module       learner
============ ===========================================================================
euclidean    Euclidean: no learning
scaled       Scaled: features divided by their standard deviations
within_class WithinClass: the inverse of the covariance within classes
discriminant Discriminant: Fisher's linear discriminants
rca          RCA: the inverse of the covariance within chunklets
kissme       KISSME: the ratio of two likelihoods
lfda         LFDA: discriminants of classes that have several clusters
gmml         GMML: the geometric mean of what is near and what is far
triplet_sgd  TripletSGD: the paper's five algorithms and the default
spml         SPML: the same loop with a hinge and a ridge
scml         SCML: weights of local discriminants, many of them 0
oasis        OASIS: a bilinear similarity, online
lego         LEGO: pairs that move a positive definite matrix, online
itml         ITML: the batch method behind LEGO
lmnn         LMNN: large margins over all impostors, by L-BFGS
mmc          MMC: dissimilar pairs far, similar ones bounded, by L-BFGS
mcml         MCML: soft neighbours of the own class, all alike, by L-BFGS
nca          NCA: neighbourhood components analysis, by mini-batches
mlkr         MLKR: the same for regression
metric_cv    MetricCV: the choice among learners by cross-validation
pairs        PairClassifier and TripletClassifier: tuples as scikit-learn data
============ ===========================================================================
"""

from calipers.estimators.discriminant import Discriminant as Discriminant
from calipers.estimators.euclidean import Euclidean as Euclidean
from calipers.estimators.gmml import GMML as GMML
from calipers.estimators.itml import ITML as ITML
from calipers.estimators.kissme import KISSME as KISSME
from calipers.estimators.lego import LEGO as LEGO
from calipers.estimators.lfda import LFDA as LFDA
from calipers.estimators.lmnn import LMNN as LMNN
from calipers.estimators.mcml import MCML as MCML
from calipers.estimators.mlkr import MLKR as MLKR
from calipers.estimators.mmc import MMC as MMC
from calipers.estimators.nca import NCA as NCA
from calipers.estimators.oasis import OASIS as OASIS
from calipers.estimators.rca import RCA as RCA
from calipers.estimators.scaled import Scaled as Scaled
from calipers.estimators.scml import SCML as SCML
from calipers.estimators.spml import SPML as SPML
from calipers.estimators.triplet_sgd import TripletSGD as TripletSGD
from calipers.estimators.within_class import WithinClass as WithinClass
