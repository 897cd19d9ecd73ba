"""Codes of the rules across planes."""

from __future__ import annotations

from fourplane.base.codes import define

__all__: list[str] = []

define(
    "why-cluster-none",
    "No need is stated that only a cluster meets",
    "Where only model output is needed, a model API has no idle GPUs, no drivers and no incidents of its own; a "
    "cluster "
    "must beat its price after idle, retries, storage and labour.",
    "Price the model API first, or state own-weights, placement-control, long-training or private-serving in "
    "brief.why_cluster.",
    "https://www.finops.org/wg/finops-for-ai-overview/",
    "P0",
)
define(
    "commitment-before-evidence",
    "A commitment over 12 months, and nothing was measured yet",
    "Prices, models and hardware move faster than the term; without figures from a slice of the same shape the "
    "commitment "
    "rests on data sheets.",
    "Rent a small slice, run `fourplane prove`, and commit on its evidence.",
    "https://www.finops.org/framework/capabilities/rate-optimization/",
    "P5",
)
define(
    "storage-eats-utilisation",
    "Checkpoint stalls alone take more than the utilisation target leaves",
    "Training stalls for one write in each interval. When that share is larger than one minus the target "
    "utilisation, the "
    "target is out of reach however fast GPUs and fabric are: storage binds.",
    "Write faster, write less often within the tolerated loss, or lower the target.",
    "https://arxiv.org/abs/2410.21680",
    "X1",
)
define(
    "binding-plane",
    "Which plane binds when the training state moves",
    "The same bytes pass through GPU memory, over the fabric and to storage at three rates. Money spent on the "
    "faster ones "
    "does not shorten the wait for the slowest: a fabric without storage only moves the bottleneck.",
    "Nothing to mend: spend on the plane that is named.",
    "https://github.com/mlcommons/storage",
    "X1",
)
define(
    "recovery-out-of-reach",
    "Recovery can't be as fast as its target",
    "After a lost node a job of fixed size needs a replacement and then its checkpoint back. Without a spare the "
    "time to a "
    "new node comes first, and alone may exceed the target.",
    "Keep a spare, agree on a shorter replacement, or set a longer target.",
    "https://arxiv.org/abs/2410.21680",
    "C4",
)
define(
    "price-below-market",
    "A GPU-hour far below every published price",
    "The same silicon is offered four times apart; what the cheapest leaves out is fabric, service level, egress, or "
    "the node shape. A rate below the market is a warning before it is a saving: nothing is ranked by it.",
    "Ask what the price leaves out, hold the quote against the whole bill, and measure a slice before signing.",
    "https://www.finops.org/wg/finops-for-ai-overview/",
    "P0",
)
