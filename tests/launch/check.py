#!/usr/bin/env python3
"""check.py ADDRESS EXAMPLE...: asks a running service for plans and runs over what the customer would run.

For the examples, for random plans and for a sample of the requests nobody chose (tests/bench), of every option: no option
is one its tool does not have, the DeepSpeed file parses, its batch multiplies out and it says
what the command line says; the parallel sizes are the layout's, divide what they must and multiply to the cards; Slurm's
directives stand first and are sane; the YAML parses and asks for the cards; every shell text passes shellcheck.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.request

import yaml

import options as known

RANDOM_PLANS = 100
EVERY = 4  # of tests/bench/requests.jsonl
ADDRESS = sys.argv[1]
failures = []
passed = 0
shells = {}  # text with its numbers taken out -> (name, text): shellcheck sees every form once


def call(path, body=None):
    request = urllib.request.Request(ADDRESS + path, None if body is None else json.dumps(body).encode(),
                                     {"Content-Type": "application/json", "Accept-Language": "en"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code, "problem": json.load(error)}


def expect(name, holds, what):
    global passed
    if holds:
        passed += 1
    else:
        failures.append(f"{name}: {what}")


def number(text, option):
    found = re.search(r"--" + option + r"[ =](\d+)", text)
    return int(found.group(1)) if found else None


def shell(name, text):
    shells.setdefault(re.sub(r"\d+", "0", text), (name, text))


def commands(text):
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))


def options_of(text):
    return set(re.findall(r"(?<![\w-])--([a-z][\w-]*)", commands(text)))


def check_options(name, text):
    """Nothing that its tool would refuse."""
    used = options_of(text)
    if "text/slurm" in name:
        directives = {d for d in re.findall(r"^#SBATCH --([\w-]+)", text, re.M)}
        expect(name, directives <= known.SBATCH, f"sbatch has no {directives - known.SBATCH}")
    trainer = known.TRAINER | known.FACTORY if "train.py --deepspeed" in text else None
    own = {"batch_size", "max_seq_length", "model_name_or_path", "batch-size-per-gpu", "gradient-accumulation"}
    script = (trainer if trainer else known.MEGATRON if "pretrain_gpt.py" in text
              else known.MEGATRON | {"lora-rank", "quantization-bit"} if "finetune_lora.py" in text else own)
    optim = re.search(r"--optim (\S+)", text)
    expect(name, not optim or optim.group(1) in known.OPTIM, f"transformers has no optimizer {optim and optim.group(1)}")
    expect(name, used <= known.TORCHRUN | script, f"unknown: {used - known.TORCHRUN - script}")


def check_serve(name, text, serving, layout):
    line = commands(text).strip()
    tool = next((t for t in known.SERVE if t in line), None)
    expect(name, tool is not None and "\n" not in line, f"no engine in {text}")
    if tool is None:
        return
    used = options_of(text)
    expect(name, used <= known.SERVE[tool], f"{tool} has no {used - known.SERVE[tool]}")
    bits, form = serving.get("weight_bits"), serving.get("weight_format")
    packed = re.search(r"-(fp8|w8a8|w4a8|int8|gptq|awq|bnb-4bit|nvfp4|mxfp4|q4f16|exl2|\w+\.gguf)( |$)", line) or "--quanti" in line
    if form not in (None, "bf16", "fp16", "fp32") or (bits and bits <= 12):
        expect(name, packed, f"weights of {bits or form} served unpacked: {line}")
    if tool == "vllm serve" and layout:
        s = sizes(layout)
        expect(name, (number(line, "tensor-parallel-size") or 1) == s["tp"], f"tp of {line}")
        expect(name, (number(line, "pipeline-parallel-size") or 1) == s["pp"], f"pp of {line}")
    if serving.get("input_tokens") and serving.get("output_tokens") and tool == "vllm serve":
        expect(name, number(line, "max-model-len") == serving["input_tokens"] + serving["output_tokens"], f"context of {line}")
    if tool == "vllm serve" and not serving.get("input_tokens") and not serving.get("output_tokens"):
        expect(name, number(line, "max-model-len") or "whisper" in line or "flux" in line, f"no context: {line}")
    shell(name, text)


def keys_of(value, path=""):
    for key, inner in value.items():
        yield path + key
        if isinstance(inner, dict):
            yield from keys_of(inner, path + key + ".")


def sizes(layout):
    return {k: max(int(layout.get(k) or 1), 1) for k in ("tp", "pp", "cp", "ep", "dp", "vpp")}


def check_deepspeed(name, config, text, layout, world):
    unknown = set(keys_of(config)) - known.DEEPSPEED
    expect(name, not unknown, f"DeepSpeed has no {unknown}")
    micro, steps = config["train_micro_batch_size_per_gpu"], config["gradient_accumulation_steps"]
    expect(name, config["train_batch_size"] == micro * steps * world, f"{config['train_batch_size']} is not {micro} x {steps} x {world}")
    expect(name, number(text, "per_device_train_batch_size") == micro, "micro batch of the command is not the file's")
    expect(name, number(text, "gradient_accumulation_steps") == steps, "accumulation of the command is not the file's")
    zero = config["zero_optimization"]
    stage = {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3}[layout["sharding"]]
    offload = layout["offload"]
    least = {"optimizer": 1, "parameters": 3}.get(offload, 0)
    expect(name, zero["stage"] == (3 if least == 3 else max(stage, least)), f"stage {zero['stage']} for {layout['sharding']}, offload {offload}")
    expect(name, ("offload_optimizer" in zero) == (offload in ("optimizer", "parameters")), "offload_optimizer")
    expect(name, ("offload_param" in zero) == (offload == "parameters"), "offload_param")
    if "offload_optimizer" in zero and "optimizer" not in config:
        expect(name, config.get("zero_force_ds_cpu_optimizer") is False, "offload of an optimizer that DeepSpeed does not build")
    expect(name, not (config.get("fp16", {}).get("enabled") and config.get("bf16", {}).get("enabled")), "fp16 and bf16 both")


def check_megatron(name, text, layout, world):
    s = sizes(layout)
    expect(name, number(text, "tensor-model-parallel-size") == s["tp"], "tp is not the layout's")
    expect(name, number(text, "pipeline-model-parallel-size") == s["pp"], "pp is not the layout's")
    expect(name, (number(text, "context-parallel-size") or 1) == s["cp"], "cp is not the layout's")
    ranks = s["tp"] * s["pp"] * s["cp"]
    expect(name, world % ranks == 0, f"{world} ranks in groups of {ranks}")
    dp = world // ranks
    whole = s["tp"] if number(text, "expert-tensor-parallel-size") is None else number(text, "expert-tensor-parallel-size")
    expect(name, s["ep"] == 1 or world % (whole * s["ep"] * s["pp"]) == 0, f"experts: {world} ranks in groups of {whole} x {s['ep']} x {s['pp']}")
    layers, heads = number(text, "num-layers"), number(text, "num-attention-heads")
    expect(name, heads % s["tp"] == 0, f"{heads} heads over {s['tp']}")
    last = number(text, "decoder-last-pipeline-num-layers")
    if last is None:
        expect(name, layers % s["pp"] == 0, f"{layers} layers over {s['pp']} stages")
    else:
        expect(name, 0 < last < layers and (layers - last) % (s["pp"] - 1) == 0, f"{layers} layers, {last} on the last of {s['pp']} stages")
    groups = number(text, "num-query-groups") or heads
    expect(name, groups % s["tp"] == 0 or s["tp"] % groups == 0, f"{groups} key and value heads over {s['tp']}")
    chunks = number(text, "num-layers-per-virtual-pipeline-stage")
    if chunks:
        expect(name, layers % (s["pp"] * chunks) == 0, f"{layers} layers over {s['pp']} stages of chunks of {chunks}")
    batch, micro = number(text, "global-batch-size"), number(text, "micro-batch-size")
    expect(name, batch % (micro * dp) == 0, f"global batch {batch} over {micro} x {dp}")
    expect(name, ("--sequence-parallel" in text) == (s["tp"] > 1), "sequence parallel")
    expect(name, ("--train-samples" in text) or ("--train-iters" in text), "no amount of work")
    fsdp = "--use-megatron-fsdp" in text
    expect(name, ("CUDA_DEVICE_MAX_CONNECTIONS=1" in text) == ((s["tp"] > 1 or s["cp"] > 1) and not fsdp), "CUDA_DEVICE_MAX_CONNECTIONS")


def check_slurm(name, text, nodes, cards):
    lines = text.split("\n")
    expect(name, lines[0] == "#!/bin/bash", "no shebang")
    directives = [i for i, line in enumerate(lines) if line.startswith("#SBATCH")]
    commands = [i for i, line in enumerate(lines) if line and not line.startswith("#")]
    expect(name, directives and directives[-1] < commands[0], "a directive behind the first command is not read")
    words = dict(re.match(r"#SBATCH --([a-z-]+)(?:=(.*))?$", lines[i]).groups() for i in directives)
    asked = words.get("gpus-per-node") or (words.get("gres") or "").partition(":")[2]
    expect(name, words.get("nodes") == str(nodes) and asked == str(cards), f"{words} for {nodes} x {cards}")
    expect(name, ("gres" in words) != ("gpus-per-node" in words), f"cards asked for twice: {words}")
    expect(name, words.get("ntasks-per-node") == "1", "torchrun is started once a node")
    if "time" in words:
        expect(name, re.fullmatch(r"\d+-([01]\d|2[0-3]):[0-5]\d:00", words["time"]), f"time {words['time']}")
    if "array" in words:
        expect(name, re.fullmatch(r"1-\d+%1", words["array"]), f"array {words['array']}")
    expect(name, ("cpus-per-task" in words) == ("SRUN_CPUS_PER_TASK" in text), "srun does not take cpus-per-task over by itself")
    expect(name, "--nproc-per-node=%d" % cards in text and "--nnodes=%d" % nodes in text, "torchrun's sizes")
    shell(name, text)


def check_kubernetes(name, text, nodes, cards):
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        expect(name, False, f"YAML: {error}")
        return
    kinds = [d["kind"] for d in documents]
    expect(name, kinds == (["Service", "Job"] if nodes > 1 else ["Job"]), f"{kinds}")
    job = documents[-1]["spec"]
    pod = job["template"]["spec"]
    container = pod["containers"][0]
    expect(name, job["completions"] == nodes and job["parallelism"] == nodes, "completions")
    limits = container["resources"]["limits"]
    expect(name, [v for k, v in limits.items() if k != "rdma/hca"] == [cards], f"{limits} for {cards} cards")
    expect(name, ("rdma/hca" in limits) == ("securityContext" in container), "RDMA pins memory")
    if nodes > 1:
        expect(name, documents[0]["metadata"]["name"] == pod["subdomain"] and documents[0]["spec"]["clusterIP"] == "None", "headless service")
    mounts = {m["name"] for m in container["volumeMounts"]}
    expect(name, mounts == {v["name"] for v in pod["volumes"]}, "a mount without its volume")
    shell(name, container["args"][0])


def check_option(name, option, workload):
    launch, trains = option["launch"], "training" in workload
    for kind in ("torchrun", "slurm", "kubernetes"):
        if launch[kind]:
            text = launch[kind] if kind != "kubernetes" else list(yaml.safe_load_all(launch[kind]))[-1]["spec"]["template"]["spec"]["containers"][0]["args"][0]
            check_options(f"{name} text/{kind}", text)
    text = launch["torchrun"]
    expect(name, (text is not None) == trains, "torchrun")
    if text:
        cards = number(text, "nproc-per-node")
        nodes = number(text, "nnodes") or 1
        world = cards * nodes
        layout = option["estimate"]["layout"]
        s = sizes(layout)
        expect(name, s["tp"] * s["pp"] * s["cp"] * s["dp"] == world, f"layout {s} on {world} cards")
        shell(name, text)
        if launch["deepspeed_config"]:
            check_deepspeed(name, launch["deepspeed_config"], text, layout, world)
            expect(name, s["tp"] * s["pp"] * s["cp"] * s["ep"] == 1, "a DeepSpeed file cannot say this layout")
        elif "--tensor-model-parallel-size" in text:
            check_megatron(name, text, layout, world)
        if launch["slurm"]:
            check_slurm(name, launch["slurm"], nodes, cards)
        if launch["kubernetes"]:
            check_kubernetes(name, launch["kubernetes"], nodes, cards)
    if launch["serve"]:
        reserve = (option["inference_reserve"] or {}).get("estimate") or {}
        check_serve(f"{name} serve", launch["serve"], workload.get("serving") or {}, reserve.get("layout"))
    for item in option["checklist"]:
        if item["command"]:
            shell(f"{name} {item['code']}", item["command"] + "\n")


def random_workload(r, models, gpus):
    training = {"method": r.choice(["pretrain", "full_finetune", "full_finetune", "lora", "qlora", "embedding"])}
    unit = r.choice(["tokens", "samples", "steps"])
    training[unit] = {"tokens": int(10 ** r.uniform(6, 11)), "samples": int(10 ** r.uniform(3, 6)), "steps": int(10 ** r.uniform(2, 5))}[unit]
    if unit == "steps" or r.random() < 0.4:
        training["global_batch"] = r.choice([8, 24, 64, 100, 512])
    for key, values in {"seq_len": [512, 2048, 4096, 32768], "precision": ["bf16", "fp16", "fp8"], "epochs": [1, 3],
                        "optimizer": ["adamw", "adamw_8bit", "adafactor", "sgd", "lion", "muon"], "checkpoints_kept": [1, 3]}.items():
        if r.random() < 0.4:
            training[key] = r.choice(values)
    workload = {"model": r.choice([{"preset": r.choice(models)}, {"params_b": round(10 ** r.uniform(-1, 2.3), 2)}]), "training": training}
    if r.random() < 0.4:
        workload["serving"] = {"requests_per_s": round(10 ** r.uniform(-1, 1), 2), "input_tokens": 800, "output_tokens": 200, "months": 3}
        if r.random() < 0.5:
            workload["serving"]["weight_bits"] = r.choice([4, 8, 16])
        elif r.random() < 0.5:
            workload["serving"]["weight_format"] = r.choice(["fp8", "awq", "gptq", "int8", "bnb4", "gguf_q4_k_m"])
        if r.random() < 0.5:
            workload["serving"]["engine"] = r.choice(["vllm", "sglang", "lmdeploy", "tensorrt_llm", "tgi"])
    constraints = {"team": r.choice(["none", "slurm", "kubernetes", "expert"])}
    if r.random() < 0.4:
        constraints["gpus"] = r.sample(gpus, 4)
    workload["constraints"] = constraints
    return workload


def check_shell():
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for i, (name, text) in enumerate(shells.values()):
            path = os.path.join(folder, f"{i}.sh")
            names[path] = name
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        found = subprocess.run(["shellcheck", "-s", "bash", "-f", "json", *names], capture_output=True, text=True, check=False)
        complaints = {c["file"]: c for c in json.loads(found.stdout)}
        for path, name in names.items():
            c = complaints.get(path)
            expect(name, c is None, c and f"SC{c['code']} line {c['line']}: {c['message']}\n" + open(path, encoding="utf-8").read())


def main():
    models = [m["id"] for m in call("/api/v1/models?limit=500")["items"]]
    gpus = [g["id"] for g in call("/api/v1/gpus?limit=500")["items"]]
    plans = [(os.path.basename(path), json.load(open(path, encoding="utf-8"))) for path in sys.argv[2:]]
    r = random.Random(20261130)
    plans += [(f"random {i}", {"workload": random_workload(r, models, gpus)}) for i in range(RANDOM_PLANS)]
    with open("tests/bench/requests.jsonl", encoding="utf-8") as lines:
        plans += [(f"bench {i}", json.loads(line)) for i, line in enumerate(lines) if i % EVERY == 0]
    planned = options = 0
    for name, body in plans:
        answer = call("/api/v1/plans", body)
        if "options" not in answer:
            expect(name, name.startswith("random"), f"{answer}")
            continue
        planned += 1
        for option in answer["options"]:
            options += 1
            check_option(f"{name} {option['label']}", option, body["workload"])
    expect("random plans", planned > len(plans) * 0.8, f"only {planned} of {len(plans)} requests were planned")
    expect("options", options > planned, f"{options} options of {planned} plans")
    check_shell()
    for failure in failures[:40]:
        print(failure)
    print(f"launch: {planned} plans, {options} options, {len(shells)} forms of shell text: {passed} passed, {len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
