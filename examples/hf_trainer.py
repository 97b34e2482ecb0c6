"""A small GPT-2 of the library transformers. Its Trainer trains it to write letter by letter, then it continues a text.

It needs transformers and accelerate, which import torch and get tinytorch here. --data is the same as for nanogpt.py.
An epoch is one pass over --limit letters (20000), in pieces of 64.
"""
import tempfile
import time

import common

import tinytorch as torch


def trainer_of(args, letters, tokens, folder):
    """(the model, its Trainer)."""
    from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=letters, n_positions=args.context, n_embd=args.width, n_layer=args.depth, n_head=args.heads,
        bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    pieces = tokens[:len(tokens) // args.context * args.context].view(-1, args.context)
    options = TrainingArguments(
        folder, num_train_epochs=args.epochs, max_steps=args.steps, per_device_train_batch_size=args.batch,
        learning_rate=args.lr, warmup_steps=10, lr_scheduler_type="cosine", weight_decay=0.1, seed=args.seed,
        logging_steps=1, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model, options, train_dataset=[{"input_ids": piece, "labels": piece} for piece in pieces])
    trainer.remove_callback(PrinterCallback)
    return model, trainer


def main(argv=None):
    args = common.arguments(__doc__, 3, argv, lr=(2e-3, "learning rate"), steps=(-1, "number of batches, -1 for all"),
                            batch=(16, "pieces of text in a batch"), context=(64, "letters that are looked back on"),
                            width=(64, "numbers for each letter"), heads=(4, "heads of the attention"),
                            depth=(2, "blocks"), letters=(60, "letters to write at the end"),
                            prompt=("The ", "text to continue"))
    torch.install()                    # other libraries now import it as torch
    from transformers.utils import logging
    logging.set_verbosity_error()
    text = common.text_of(args.data)[:args.limit or 20000]
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    torch.manual_seed(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        model, trainer = trainer_of(args, len(letters), torch.tensor([number[x] for x in text]), folder)
        print(f"{len(text)} letters, {len(letters)} different ones; {model.num_parameters()} parameters")
        start = time.perf_counter()
        trainer.train()
        seconds = time.perf_counter() - start
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print(f"{len(losses)} steps in {seconds:.2f} seconds: loss {losses[0]:.4f} to {losses[-1]:.4f}")
    prompt = torch.tensor([[number.get(x, 0) for x in args.prompt]])
    written = model.eval().generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, pad_token_id=0,
                                    eos_token_id=None, max_new_tokens=args.letters)[0].tolist()
    print("-- most likely:", "".join([letters[i] for i in written]), sep="\n")
    steps = -(-(len(text) // args.context) // args.batch)      # steps of an epoch
    parts = [losses[i:i + steps] for i in range(0, len(losses), steps)]
    rows = [(i, sum(part) / len(part), part[-1], seconds / len(parts)) for i, part in enumerate(parts, 1)]
    if args.plot:
        common.picture(args.plot, rows, "loss of the last batch")
    return losses, rows


if __name__ == "__main__":
    main()
