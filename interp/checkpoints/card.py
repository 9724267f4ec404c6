"""The model card: what config.json says, in words."""

from typing import Any

from interp.checkpoints.config_file import split_of
from interp.corpus.split import Split
from interp.text import counted, size_in_words


def model_card(config: dict[str, Any]) -> str:
    """The card of a checkpoint, as Markdown.

    Args:
        config: What is written to config.json; what is null is left out or said to be unknown.
    """
    architecture = config["architecture"]
    position = architecture["position"]
    sections = [
        f"# {config['name']}",
        f"A {_level(config)} transformer with {_encoding_in_words(position)}: d_model "
        f"{architecture['d_model']}, {architecture['n_heads']} heads, {architecture['n_layers']} "
        f"layers, windows of {architecture['n_ctx']} tokens"
        + (f", rotation layout `{position['layout']}`." if "layout" in position else "."),
        _training(config),
        _held_out_loss(config),
        _limits(position),
        _licence(config["recipe"] or {}),
    ]
    return "\n\n".join(part for part in sections if part) + "\n"


def _level(config: dict[str, Any]) -> str:
    return "byte-level" if config["tokenizer"]["kind"] == "bytes" else "character-level"


def _encoding_in_words(position: dict[str, Any]) -> str:
    if position["encoding"] == "rope":
        beside = beside_rotation(position)
        return f"rotary positions{beside}" if beside else "plain rotary positions"
    if position["encoding"] != "increments":
        return f"the position encoding {position['encoding']}"
    scope = "shared by all layers" if position["scope"] == "shared" else "of each layer's own"
    per_head = ", one for each head" if position["per_head"] else ""
    bound = position["max_increment"]
    limits = f"between 0 and {bound:g}" if bound else "above 0"
    return f"learned position increments {scope}{per_head} ({limits}){beside_rotation(position)}"


def beside_rotation(position: dict[str, Any]) -> str:
    """What a rotary encoding has beside its rotation, in words that begin with a comma."""
    recency, every = position.get("recency", "none"), position.get("unrotated_every")
    parts = [
        f"scores that fall with the distance ({recency})" if recency != "none" else "",
        f"no positions in one layer of {every}" if every else "",
        f"stretched by {position['scaling']}" if position.get("scaling") else "",
    ]
    return "".join(f", {part}" for part in parts if part)


def _training(config: dict[str, Any]) -> str:
    if config["step"] is None:
        return "## Training\n\nNothing is known of its training."
    optimization = (config["recipe"] or {}).get("optimization", {})
    n_steps, seen = config["n_steps"], config["n_bytes_seen"]
    of_all = "" if n_steps is None else f" of {n_steps:,}"
    of_text = "" if seen is None else f"; {size_in_words(seen)} of text seen"
    lines = ["## Training", f"Step {config['step']:,}{of_all}{of_text}."]
    if config["wall_seconds"] is not None:
        on = "" if config["hardware"] is None else f" on {config['hardware']}"
        lines[1] += (
            f" {config['wall_seconds'] / 60:.0f} minutes{on}, without the measurement at the end."
        )
    if config["corpora"]:
        lines.append(_corpora(config["corpora"]))
    if optimization:
        lines.append(
            f"AdamW, batches of {optimization['batch_size']} windows, learning rate "
            f"{optimization['learning_rate']:g} ({optimization['schedule']}, "
            f"{optimization['warmup_steps']} steps of warm-up), weight decay "
            f"{optimization['weight_decay']:g} on matrices, gradients clipped at "
            f"{optimization['clip_norm']:g}; seed {config['recipe']['seed']}. The whole recipe "
            "is in config.json."
        )
    held_out = split_in_words(split_of(config["split"]))
    lines.append(f"Held out: {held_out or 'not known'}.")
    lines.append("Versions: " + ", ".join(f"{k} {v}" for k, v in config["versions"].items()) + ".")
    return "\n\n".join(lines)


def split_in_words(split: Split) -> str:
    """What training left out; nothing where that is not known."""
    n_hashes = len(split.hashes)
    parts = [f"{counted(n_hashes, 'text')} whose hashes are in config.json"] if n_hashes else []
    if split.last:
        parts = [f"the last {split.last:.2%} of {counted(n_hashes, 'training text')}"]
    if split.fraction:
        parts.append(f"{split.fraction:.2%} of all texts by rule")
    return " and ".join(parts)


def _corpora(corpora: dict[str, Any]) -> str:
    header = "| corpus | documents | bytes | passes | fingerprint of the packed text |"
    rows = [
        f"| {name} | {corpus['n_documents']:,} | {corpus['n_bytes']:,} | "
        f"{corpus['passes']:.2f} | `{corpus['fingerprint'][:16]}…` |"
        for name, corpus in corpora.items()
    ]
    return "\n".join([header, _RULE * 5 + "|", *rows])


def _held_out_loss(config: dict[str, Any]) -> str:
    losses = config["held_out_loss"]
    if not losses:
        return ""
    baselines = config["baselines"] or {}
    named = list(dict.fromkeys(name for found in baselines.values() for name in found))
    header = ["text", "documents", "bytes", "nats per byte", "bits per byte", *named]
    rows = ["| " + " | ".join(header) + " |", _RULE * len(header) + "|"]
    for language, loss in losses.items():
        beside = baselines.get(language, {})
        cells = [
            language,
            f"{loss['n_documents']:,}",
            f"{loss['n_bytes']:,}",
            f"{loss['nats_per_byte']:.4f}",
            f"{loss['bits_per_byte']:.3f}",
            *(f"{beside[name]:.3f}" if name in beside else "" for name in named),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    part = (
        "Surprisal over consecutive windows of each held-out document"
        + (", each after its separator" if config["tokenizer"]["kind"] == "bytes" else "")
        + ", per byte of it."
    )
    if not config.get("is_done"):
        part += " The run is not done: this is over the first of the held-out documents alone."
    if named:
        part += (
            " The columns on the right are bits per byte of a compressor and of a byte 5-gram that "
            "were given the same training windows (benchmarks/compression.py)."
        )
    stored = f"Weights are stored in {config['weights']}."
    return "\n\n".join(["## Held-out loss", part, "\n".join(rows), stored])


def _limits(position: dict[str, Any]) -> str:
    limits = [
        "A small model, trained to be looked into, not to write.",
        "One seed: what differs between two such models may differ between two seeds.",
    ]
    if position["encoding"] == "increments":
        limits.append(
            "Increments near their upper bound are saturated; `interp extract` reports how many."
        )
    return "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits)


def _licence(recipe: dict[str, Any]) -> str:
    """What the recipe says; without it only of text whose address is known."""
    words = recipe.get("licence")
    if not words:
        corpora = recipe.get("corpora") or {}
        addresses = [str(each) for corpus in corpora.values() for each in corpus.get("train", ())]
        if addresses and all(address.startswith(_WIKIPEDIA) for address in addresses):
            words = _WIKIPEDIA_LICENCE
    return f"## Licence\n\n{words}" if words else ""


_RULE = "|---"

_WIKIPEDIA = "hub:wikimedia/wikipedia/"

_WIKIPEDIA_LICENCE = (
    "Weights: CC BY-SA 4.0, because they are made from Wikipedia text (CC BY-SA 3.0 and 4.0, by "
    "its authors). Code: MIT."
)
