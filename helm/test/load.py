"""Puts objects of known content for some time and records which were acknowledged; verifies them later.

load.py load ENDPOINT BUCKET LEDGER SECONDS    ends earlier when LEDGER.stop appears
load.py verify ENDPOINT BUCKET LEDGER
Credentials are in the environment, as for the aws cli. A request may be tried five times, as SDKs do by default.
"""

import hashlib
import os
import random
import sys
import threading
import time

import boto3
from botocore.config import Config

THREADS = 4


def client(endpoint):
    config = Config(
        retries={"max_attempts": 5, "mode": "standard"},
        connect_timeout=5,
        read_timeout=30,
        max_pool_connections=2 * THREADS,
        s3={"addressing_style": "path"},
    )
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)


def content(key):
    """Follows from the key: small, middle and large in turn."""
    seed = hashlib.sha256(key.encode()).digest()
    size = [100, 4096, 70_000, 700_000][seed[0] % 4] + seed[1]
    return random.Random(seed).randbytes(size)


def acknowledged(ledger):
    if not os.path.exists(ledger):
        return []
    with open(ledger) as lines:
        return lines.read().split()


def load(endpoint, bucket, ledger, seconds):
    s3 = client(endpoint)
    try:
        s3.create_bucket(Bucket=bucket)
    except s3.exceptions.BucketAlreadyOwnedByYou:
        pass
    run = format(int(time.time()), "x")
    end = time.monotonic() + float(seconds)
    lock = threading.Lock()
    counts = {"put": 0, "get": 0, "failed": 0, "slowest": 0.0}
    out = open(ledger, "a")

    def work(number):
        own = []
        for i in range(100_000):
            if time.monotonic() > end or os.path.exists(ledger + ".stop"):
                return
            key = f"{run}/{number}/{i}"
            began = time.monotonic()
            try:
                s3.put_object(Bucket=bucket, Key=key, Body=content(key))
                own.append(key)
                read = random.choice(own)
                got = s3.get_object(Bucket=bucket, Key=read)["Body"].read()
                if got != content(read):
                    raise SystemExit(f"WRONG BYTES: {read}")
                with lock:
                    out.write(key + "\n")
                    out.flush()
                    counts["put"] += 1
                    counts["get"] += 1
            except SystemExit as wrong:
                print(wrong, flush=True)
                os._exit(1)
            except Exception as failure:
                with lock:
                    counts["failed"] += 1
                    print(f"{time.strftime('%H:%M:%S')} failed: {failure}", flush=True)
            with lock:
                counts["slowest"] = max(counts["slowest"], time.monotonic() - began)
            time.sleep(0.02)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(
        f"load: {counts['put']} objects put and as many read, {counts['failed']} failed after five tries,"
        f" slowest pair {counts['slowest']:.1f} s"
    )


def verify(endpoint, bucket, ledger):
    s3 = client(endpoint)
    keys = acknowledged(ledger)
    listed = set()
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        listed.update(entry["Key"] for entry in page.get("Contents", []))
    lost = [key for key in keys if key not in listed]
    wrong = [key for key in keys if s3.get_object(Bucket=bucket, Key=key)["Body"].read() != content(key)]
    if lost or wrong:
        sys.exit(f"verify: NOT LISTED {lost[:5]} WRONG {wrong[:5]}")
    print(f"verify: {len(keys)} acknowledged objects listed and read, all with their bytes")


if __name__ == "__main__":
    {"load": load, "verify": verify}[sys.argv[1]](*sys.argv[2:])
