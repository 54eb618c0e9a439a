"""The findings of the thesis, in their order, as testable claims."""

from oversmoothing.claims import decodings, models
from oversmoothing.claims.claim import Claim

CLAIMS = [
    Claim(
        "truths-beat-the-family",
        "3.4, Table 3.1",
        "The truths have a lower validation loss and a higher accuracy than every model of the family.",
        "Loss and accuracy of each model against each truth; of a truth that was not trained here, the loss on "
        "the evaluation windows, paired by window.",
        models.truths_beat_the_family,
    ),
    Claim(
        "loss-and-accuracy-agree",
        "3.4, Table 3.1",
        "Validation loss and accuracy put the models in the same order.",
        "Each pair of ranks: the difference in accuracy, turned by the sign of the difference in loss.",
        models.loss_and_accuracy_agree,
    ),
    Claim(
        "little-gained-from-16",
        "3.4, Figure 3.1",
        "From rank 16 on, the validation losses differ little; below that, each step of rank lowers them by more.",
        "Each step of rank up to 16: the loss gained, less the whole range of losses at ranks from 16 on.",
        models.little_gained_from_moderate_rank,
    ),
    Claim(
        "falls-up-to-32",
        "4.2, Tables 4.1 and 4.2",
        "Under TTO, NSMD, TV and KL, oversmoothing falls with each step of rank up to 32.",
        "Each rank up to 32 less the next; scores paired by window, truths pooled.",
        models.falls_up_to_32,
    ),
    Claim(
        "no-change-from-32-to-128",
        "4.2, Tables 4.1 and 4.2",
        "From rank 32 to 128 oversmoothing does not vary significantly under TTO, NSMD, TV and KL.",
        "Rank 128 less rank 32 and vice versa, each at least minus a tenth of the value at rank 32; paired by window.",
        models.no_change_to_128,
    ),
    Claim(
        "metrics-differ-on-32-and-128",
        "4.2, Tables 4.1 and 4.2",
        "TTO and NSMD are lower at rank 128 than at rank 32; TV and KL are lower at rank 32.",
        "One rank less the other under each metric; paired by window. The thesis calls the differences not "
        "significant.",
        models.metrics_differ,
    ),
    Claim(
        "slight-rise-at-512",
        "4.2, Tables 4.1 and 4.2",
        "At rank 512 oversmoothing is slightly higher than at ranks 32 and 128 under TTO, NSMD, TV and KL.",
        "Rank 512 less each rank from 32 to 128, above 0 and at most a quarter of the value there; paired by window.",
        models.slight_rise_at_512,
    ),
    Claim(
        "loss-correlates",
        "4.2",
        "Validation loss and oversmoothing correlate strongly under TTO, NSMD, TV and KL.",
        "Pearson's r between loss and mean score over the models, above 0.7, with Fisher's interval.",
        models.loss_correlates,
    ),
    Claim(
        "tbat-falls",
        "4.2, Table 4.1",
        "TBAT falls strictly with rank.",
        "Each rank less the next; paired by window.",
        models.tbat_falls,
    ),
    Claim(
        "tbat-zero-at-full-rank",
        "4.2, Table 4.1",
        "At full rank TBAT is exactly 0.",
        "Mean TBAT at full rank, equal to 0. By construction: for a full-rank head W^T q = W^T p has one "
        "solution, so this tests the computation.",
        models.tbat_is_zero_at_full_rank,
        by_construction=True,
    ),
    Claim(
        "greedy-lowest-under-tto-nsmd",
        "6.1, Table 6.1",
        "Under TTO and NSMD greedy decoding is best in every model.",
        "Each other decoding less greedy, within each model; paired by window.",
        decodings.greedy_is_lowest,
    ),
    Claim(
        "temperature-lowest-under-tv",
        "6.1, Table 6.1",
        "Under TV temperature is best in every model.",
        "Each other decoding less temperature, within each model; paired by window.",
        decodings.temperature_is_lowest,
    ),
    Claim(
        "order-under-kl",
        "6.1, Table 6.1",
        "Under KL pure sampling is best in every model, then temperature, nucleus, top-k and greedy.",
        "Each decoding less the one before it, within each model; paired by window.",
        decodings.order_under_kl,
    ),
    Claim(
        "all-decodings-reduce",
        "6.1, Table 6.1",
        "Under TTO and NSMD every decoding oversmooths less than pure sampling.",
        "Pure less each other decoding, within each model; paired by window.",
        decodings.all_reduce,
    ),
    Claim(
        "no-decoding-lifts",
        "6.1, Table 6.1",
        "Under TTO and NSMD no decoding lifts a model above pure sampling from one with a better validation loss.",
        "Each model under each other decoding less each better model under pure; paired by window.",
        decodings.none_lifts,
    ),
    Claim(
        "only-nucleus-improves-tv",
        "6.1, Table 6.1",
        "Apart from temperature, only nucleus sampling improves TV over pure sampling, and only at the lowest ranks.",
        "Greedy and top-k less pure within each model; pure less nucleus at ranks 4 and 8, nucleus less pure "
        "from rank 16 on; paired by window.",
        decodings.only_nucleus_improves_tv,
    ),
    Claim(
        "svd-monotone",
        "7.1, Tables 7.1 and 7.2",
        "Oversmoothing rises with each step by which the head's SVD is truncated.",
        "Each rank of the SVD less the next, within each model; paired by window.",
        models.truncation_is_monotone,
    ),
    Claim(
        "svd-worse-than-learned",
        "7.1, Tables 4.1, 4.2, 7.1, 7.2",
        "A head truncated by SVD oversmooths more than a bottleneck learned at the same rank.",
        "The truncated head less the trained model, at each rank that both have; paired by window.",
        models.truncation_is_worse_than_learning,
    ),
    Claim(
        "all-smoother-than-the-truth",
        "F, Table F.1",
        "Every model has more entropy than the truth.",
        "Entropy of each model less that of the truth, above 0.",
        models.all_are_smoother_than_the_truth,
    ),
    Claim(
        "falls-in-entropy-too",
        "F, Table F.1",
        "By the entropy difference too, oversmoothing falls with each step of rank up to 32.",
        "Entropy of the truth less that of the model at each rank up to 32, less the same at the rank before; "
        "paired by window.",
        models.falls_in_entropy,
    ),
]
