"""Fills a new store for OlderStoreIT and writes the manifest of what it holds.

    ./ashlar server --data '/tmp/store/d{1...6}' --metadata /tmp/store/m1 &   # the build to be kept
    python make_store.py http://127.0.0.1:9000 > manifest.json
    kill -9 THE SERVER'S PID
    tar --sparse -C /tmp/store -czf VERSION.tar.gz d1 d2 d3 d4 d5 d6 m1

The credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Sizes are small or compress
well, because the archive is kept in the repository.
"""

import hashlib
import json
import random
import sys
from pathlib import Path

import boto3
from botocore.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "docs" / "examples"))
from changing_data import Changes  # noqa: E402

ENDPOINT = sys.argv[1]
BUCKET = "kept"
STRIPE_UNIT = 16_384
s3 = boto3.client("s3", endpoint_url=ENDPOINT, region_name="us-east-1", config=Config(retries={"max_attempts": 0}))
changes = Changes(ENDPOINT)
numbers = random.Random(20261124)
objects = {}


def put(key, data, **options):
    s3.put_object(Bucket=BUCKET, Key=key, Body=bytes(data), **options)
    objects[key] = bytearray(data)


def append(key, data):
    s3.put_object(Bucket=BUCKET, Key=key, Body=data, WriteOffsetBytes=len(objects[key]))
    objects[key] += data


def patch(key, offset, data):
    answer = changes.patch(BUCKET, key, offset, data)
    assert answer.status_code == 200, answer.text
    objects[key][offset : offset + len(data)] = data


def copy(source, target):
    s3.copy_object(Bucket=BUCKET, Key=target, CopySource={"Bucket": BUCKET, "Key": source})
    objects[target] = bytearray(objects[source])


def upload(key, parts):
    upload_id = s3.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
    etags = [
        s3.upload_part(Bucket=BUCKET, Key=key, UploadId=upload_id, PartNumber=number, Body=part)["ETag"]
        for number, part in enumerate(parts, 1)
    ]
    done = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]
    s3.complete_multipart_upload(Bucket=BUCKET, Key=key, UploadId=upload_id, MultipartUpload={"Parts": done})
    objects[key] = bytearray(b"".join(parts))


def main():
    s3.create_bucket(Bucket=BUCKET)
    for size in (0, 1, 4_095, 4_097, STRIPE_UNIT, 4 * STRIPE_UNIT + 1, 200_001):
        put(f"put/{size}", numbers.randbytes(size))
    put("put/metadata", b"with metadata", Metadata={"colour": "blue"}, ContentType="text/plain")
    for number in range(40):
        put(f"many/{number:02}", numbers.randbytes(100))
    put("changed/appended", numbers.randbytes(5_000))
    for _ in range(5):
        append("changed/appended", numbers.randbytes(3_000))
    put("changed/patched", numbers.randbytes(100_001))
    for offset in (0, STRIPE_UNIT - 1, 70_000, 100_000):
        patch("changed/patched", offset, numbers.randbytes(2))
    copy("changed/patched", "copied")
    patch("changed/patched", 50_000, b"after the copy")
    upload("multipart", [b"one part " * 600_000, numbers.randbytes(7_000)])
    put("replaced", numbers.randbytes(9_000))
    put("replaced", numbers.randbytes(8_000))
    put("deleted", numbers.randbytes(1_000))
    s3.delete_object(Bucket=BUCKET, Key="deleted")
    del objects["deleted"]
    open_id = s3.create_multipart_upload(Bucket=BUCKET, Key="open")["UploadId"]
    s3.upload_part(Bucket=BUCKET, Key="open", UploadId=open_id, PartNumber=1, Body=numbers.randbytes(6_000))
    manifest = {
        key: {
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "etag": s3.head_object(Bucket=BUCKET, Key=key)["ETag"],
        }
        for key, data in sorted(objects.items())
    }
    json.dump({"bucket": BUCKET, "upload": {"key": "open", "id": open_id}, "objects": manifest}, sys.stdout, indent=1)


main()
