"""Makes the tiny models of the tests and records what `transformers` computes with them.

Two decoders of two layers with random weights, in Hugging Face's form: a Llama (bf16, two files, scaled rotary positions, grouped
keys) and a Mistral (f32, a sliding window, a tied embedding table, heads that don't make up the hidden size). `golden.json` has,
for each, the logits after a soft prompt and a text given as `inputs_embeds`, and a greedy continuation.

usage: python make.py    (with torch, transformers and tokenizers; overwrites the folders beside it)
"""

import json
import pathlib
import shutil

import tokenizers
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, processors

HERE = pathlib.Path(__file__).parent
SOFT_TOKENS = 5
NEW_TOKENS = 24
SPECIAL = ["<unk>", "<s>", "</s>"]
CHARACTERS = ["\n"] + [chr(code) for code in range(32, 127)]
VOCABULARY = SPECIAL + CHARACTERS
TEXT = "Input: Look at the first action.\nOutput: Open the fridge.\n\nWhat was the instruction?\n"


def make_tokenizer():
    """One token a character; the model's first token precedes every text."""
    vocabulary = {token: index for index, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def make_models():
    common = dict(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        initializer_range=0.3,
        bos_token_id=1,
        eos_token_id=2,
    )
    scaling = dict(
        rope_type="llama3",
        rope_theta=10000.0,
        factor=8.0,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=64,
    )
    llama = transformers.LlamaConfig(**common, tie_word_embeddings=False, rope_parameters=scaling)
    mistral = transformers.MistralConfig(
        **common,
        head_dim=12,
        sliding_window=16,
        tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=5000.0),
    )
    torch.manual_seed(20)
    return [
        ("llama", transformers.LlamaForCausalLM(llama).to(torch.bfloat16), "24KB"),
        ("mistral", transformers.MistralForCausalLM(mistral), "1GB"),
    ]


def record(folder, tokenizer):
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    hidden = model.config.hidden_size
    generator = torch.Generator().manual_seed(7)
    soft = torch.randn(1, SOFT_TOKENS, hidden, generator=generator) * 0.5
    tokens = tokenizer.encode(TEXT).ids

    def logits(ids):
        embedded = model.get_input_embeddings()(torch.tensor([ids]))
        with torch.no_grad():
            return model(inputs_embeds=torch.cat([soft, embedded], 1), use_cache=False).logits[0, -1]

    first = logits(tokens)
    answer = []
    while len(answer) < NEW_TOKENS:
        token = int(logits(tokens + answer).argmax())
        if token == model.config.eos_token_id:
            break
        answer.append(token)
    return {
        "soft_prompt": [round(x, 9) for x in soft.flatten().tolist()],
        "text": TEXT,
        "tokens": tokens,
        "logits": first.tolist(),
        "answer": answer,
        "answer_text": tokenizer.decode(answer),
        "logits_after_answer": logits(tokens + answer).tolist(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "embedding_deviation": float(model.get_input_embeddings().weight.detach().double().std(unbiased=False)),
    }


def main():
    tokenizer = make_tokenizer()
    golden = {
        "made_with": {
            "torch": torch.__version__.split("+")[0],
            "transformers": transformers.__version__,
            "tokenizers": tokenizers.__version__,
        }
    }
    for name, model, shard in make_models():
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        model.save_pretrained(folder, max_shard_size=shard)
        (folder / "generation_config.json").unlink(missing_ok=True)
        tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        golden[name] = record(folder, tokenizer)
    # A line for each list of numbers.
    parts = (f'"{name}": {{{",".join(f"{chr(10)} {json.dumps(key)}: {json.dumps(value)}" for key, value in part.items())}\n}}'
             for name, part in golden.items())
    (HERE / "golden.json").write_text("{\n" + ",\n".join(parts) + "\n}\n")


main()
