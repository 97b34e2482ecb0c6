"""Text, letter by letter, with a small GPT. It is trained with AdamW, a warm-up and a cosine, then it continues a text.

--data is a text file, or a folder with a file tinyshakespeare.txt. Without it the text is Python's own documentation.
An epoch has --steps steps.
"""
import math
import time

import common

import tinytorch as torch
from tinytorch import nn


class Block(nn.Module):
    """Attention to earlier letters, then two layers for each letter; both are added to their inputs."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before_attention, self.before_layers = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.to_heads, self.from_heads = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.layers = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(),
                                    nn.Linear(4 * width, width, bias=False), nn.Dropout(dropout))

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = [part.view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in self.to_heads(self.before_attention(x)).split(width, dim=2)]
        seen = nn.functional.scaled_dot_product_attention(
            query, key, value, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        x = x + self.from_heads(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.layers(self.before_layers(x))


class GPT(nn.Module):
    def __init__(self, letters, context, width, heads, depth, dropout=0.0):
        super().__init__()
        self.context = context
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*[Block(width, heads, dropout) for _ in range(depth)])
        self.last = nn.LayerNorm(width, bias=False)
        self.out = nn.Linear(width, letters, bias=False)
        self.letter.weight = self.out.weight       # input and output share the letters' vectors
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:                # the weights that add to the sum of all blocks begin smaller
                adds = name.endswith(("from_heads.weight", "layers.2.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * depth) if adds else 0.02)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.out(self.last(self.blocks(self.dropout(self.letter(tokens) + self.place(places)))))

    @torch.no_grad()
    def continued(self, tokens, count, temperature=0.0, best=None):
        """`tokens` (1, T) and `count` more. They are the most likely ones, or with a temperature they are drawn (from
        the `best` most likely ones)."""
        self.eval()
        for _ in range(count):
            logits = self(tokens[:, -self.context:])[:, -1]
            if temperature:
                logits = logits / temperature
                if best is not None:
                    least = logits.topk(min(best, logits.shape[-1])).values[:, -1:]
                    logits = logits.masked_fill(logits < least, -math.inf)
                following = torch.multinomial(torch.softmax(logits, -1), 1)
            else:
                following = logits.argmax(-1, keepdim=True)
            tokens = torch.cat((tokens, following), 1)
        self.train()
        return tokens


def batch_of(tokens, context, count):
    """(letters, the letters that follow them) from random places."""
    starts = torch.randint(len(tokens) - context, (count,))
    places = starts[:, None] + torch.arange(context)
    return tokens[places], tokens[places + 1]


def loss_of(model, tokens, following):
    return nn.functional.cross_entropy(model(tokens).flatten(0, 1), following.flatten())


@torch.no_grad()
def held_out_loss(model, tokens, context, count, batches=10):
    model.eval()
    loss = sum([loss_of(model, *batch_of(tokens, context, count)).item() for _ in range(batches)]) / batches
    model.train()
    return loss


def train(args, model, train_tokens, test_tokens):
    """The losses of all steps, and a row (epoch, mean loss, loss on the held-out text, seconds) for each epoch."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                  lr=args.lr, betas=(0.9, 0.99))
    steps = args.epochs * args.steps
    warm = max(1, steps // 10)

    def rate(step):
        if step < warm:
            return (step + 1) / warm
        return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    checkpoint = common.Checkpoint(args, model=model, optimizer=optimizer, scheduler=scheduler)
    records: dict = checkpoint.load({"losses": [], "rows": []})
    losses, rows = records.values()

    def step(tokens, following):
        loss = loss_of(model, tokens, following)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss
    run = common.compiled(args, step)
    for epoch in range(len(rows) + 1, args.epochs + 1):
        start, first = time.perf_counter(), (epoch - 1) * args.steps
        left = range(len(losses), epoch * args.steps)
        for _ in common.tqdm(left, desc=f"epoch {epoch}/{args.epochs}", leave=False):
            loss = run(*batch_of(train_tokens, args.context, args.batch))
            scheduler.step()
            losses.append(loss.item())
            checkpoint.save(len(losses), losses=losses, rows=rows)
        seconds, mean = time.perf_counter() - start, sum(losses[first:]) / args.steps
        rows.append((epoch, mean, held_out_loss(model, test_tokens, args.context, args.batch), seconds))
        checkpoint.save(losses=losses, rows=rows)
    return losses, rows


def main(argv=None):
    args = common.arguments(__doc__, 5, argv, resumes=True, lr=(1e-3, "learning rate"),
                            steps=(200, "batches in an epoch"), batch=(12, "pieces of text in a batch"),
                            context=(64, "letters that are looked back on"),
                            width=(128, "numbers for each letter"), heads=(4, "heads of the attention"),
                            depth=(4, "blocks"), dropout=(0.0, "share of activations dropped"),
                            letters=(200, "letters to write at the end"), prompt=("\n", "text to continue"))
    text = common.text_of(args.data)[:args.limit]
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    tokens = torch.tensor([number[letter] for letter in text])
    train_tokens, test_tokens = tokens[:len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10:]
    torch.manual_seed(args.seed)
    model = GPT(len(letters), args.context, args.width, args.heads, args.depth, args.dropout)
    parameters = sum([p.numel() for p in model.parameters()])
    print(f"{len(text)} letters, {len(letters)} different ones; {parameters} parameters")
    losses, rows = train(args, model, train_tokens, test_tokens)
    print("epoch    loss  held out  seconds")
    for epoch, mean, held_out, seconds in rows:
        print(f"{epoch:5} {mean:7.4f} {held_out:9.4f} {seconds:8.2f}")
    if args.plot:
        common.picture(args.plot, rows, "loss on what was held out")
    start = torch.tensor([[number.get(letter, 0) for letter in args.prompt]])
    written = model.continued(start, args.letters)[0].tolist()
    drawn = model.continued(start, args.letters, temperature=0.8, best=20)[0].tolist()
    for title, found in ("most likely", written), ("drawn", drawn):
        print(f"-- {title}:", "".join([letters[i] for i in found]), sep="\n")
    return losses, rows


if __name__ == "__main__":
    main()
