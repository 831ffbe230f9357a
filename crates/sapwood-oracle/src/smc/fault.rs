//! Mistakes that can be made in a particle filter of dynamic trees, to prove that the checks detect them.

use crate::leaf::{LeafModel, Mistake};

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// A mistake to inject into [`super::Smc`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Fault {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// A one-line description.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

faults! {
    /// The prior of a node is taken one level too deep.
    DepthOffByOne,
    /// The exponent of the tree prior is 0.1 too small.
    BetaTooSmall,
    /// Moves compare evidence without the tree prior.
    PriorMissingInMove,
    /// The stay and grow alternatives leave the sibling out.
    SiblingMissingInScore,
    /// Every leaf's log evidence is too large by 0.2.
    EvidenceConstantWrong,
    /// A leaf's evidence is not computed again when one of its points retires.
    EvidenceStaleAfterRetirement,
    /// Moves are scored before the new datum is counted.
    MovesWithoutNewDatum,
    /// A prune keeps the leaf and loses its sibling.
    SiblingDroppedOnPrune,
    /// A prune loses what was retired below it.
    RetiredDroppedOnPrune,
    /// A grow gives all retired mass to both children.
    RetiredDuplicatedOnGrow,
    /// A grow gives each child half of the retired mass, not its share.
    RetiredHalvedOnGrow,
    /// Retired points count when moves are scored but not when the leaf predicts.
    RetiredIgnoredInPredictive,
    /// Forgetting is applied twice at each retirement.
    LambdaAppliedTwice,
    /// Forgetting is applied to every leaf, not only to the one that retires a point.
    LambdaAppliedToAllLeaves,
    /// All particles forget by the factor that the first one carries.
    LambdaSharedByParticles,
    /// A copied particle keeps the factor of the particle it replaces.
    LambdaNotInherited,
    /// Carried factors are drawn anew three times too often.
    LambdaMutatesTooOften,
    /// The retired point is not taken out of the active points of its leaf.
    RetiredStaysActive,
    /// The second-oldest point is retired instead of the oldest.
    WrongPointRetired,
    /// Random discarding never picks the newest point.
    DiscardSparesNewest,
    /// The new point is stored in a neighbouring leaf.
    PointInNeighbourLeaf,
    /// The cut is drawn among the data points instead of uniformly over the interval.
    CutAtDataPoints,
    /// Constant columns are passed over when the dimension of a cut is drawn.
    DimensionNotUniform,
    /// A grow may leave one active point fewer than allowed.
    MinLeafOffByOne,
    /// With several candidates each counts as a whole move.
    CandidatesNotAveraged,
    /// Particles are resampled without regard to their weights.
    WeightsIgnored,
    /// The systematic offset is always one half.
    ResamplingOffsetStuck,
    /// The log evidence adds the mean of the logs instead of the log of the mean.
    EvidenceMeanOfLogs,
    /// Particles 0 and 1 draw their moves from one stream.
    SharedStream,
    /// Every step draws the same random numbers again.
    StreamRepeatsEachStep,
    /// A restored filter starts its random numbers from the beginning.
    RestoreLosesRandomPosition,
    /// A restored filter has forgotten its evidence.
    RestoreLosesEvidence,
    /// A discriminant leaf measures its ridge by its own spread.
    RidgeOnLeafScale,
    /// The nested models of a discriminant leaf are added up, not averaged.
    NestedNotAveraged,
    /// The class means of a discriminant leaf are penalised as if their prior were twice as strong.
    MeansPenaltyWrong,
    /// A discriminant leaf predicts with its nested models weighed evenly.
    NestedWeighedEvenly,
    /// Prediction sends missing values to the other side than learning does.
    NanSideDiffers,
}

impl Fault {
    /// The leaf model with this fault, for faults that lie there.
    pub fn in_leaf(self, leaf: &LeafModel) -> LeafModel {
        let mistake = match self {
            Self::RidgeOnLeafScale => Mistake::LeafRidge,
            Self::NestedNotAveraged => Mistake::NotAveraged,
            Self::MeansPenaltyWrong => Mistake::WrongStrength,
            Self::NestedWeighedEvenly => Mistake::EvenWeights,
            _ => return leaf.clone(),
        };
        let mut faulty = leaf.clone();
        if let LeafModel::Discriminant(model) = &mut faulty {
            model.mistake = Some(mistake);
        }
        faulty
    }
}
