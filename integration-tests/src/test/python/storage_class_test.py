"""Storage classes with boto3, the aws cli, rclone and mc, in a store of profile 4+2 to which STANDARD_IA 2+2 and COLD
3+2 are added.

Run by StorageClassIT: storage_class_test.py ENDPOINT SEED FOLDER PHASE, with the phases unknown (before the profiles
are added), write, read (after two drives were lost), rclone and mc (where they are installed).
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import urllib.request

import boto3
import cli
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED, FOLDER, PHASE = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
MIB = 1024 * 1024
IA, COLD = "STANDARD_IA", "COLD"
BUCKET = f"classes-{SEED % 1_000_000}"
# What the phase write leaves for the phase read: the class of each key. Its bytes are in a file beside it.
EXPECTED = FOLDER / "expected.json"

s3 = boto3.client(
    "s3",
    endpoint_url=ENDPOINT,
    region_name="us-east-1",
    config=Config(retries={"max_attempts": 0}, signature_version="s3v4"),
)


def aws(*arguments, fails=False):
    done = cli.run("--endpoint-url", ENDPOINT, "--region", "us-east-1", *arguments)
    assert (done.returncode != 0) == fails, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def content(length, salt=0):
    return random.Random(SEED + length + salt).randbytes(length)


def failure(code, call, **arguments):
    try:
        call(Bucket=BUCKET, **arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return
    raise AssertionError(f"no error, expected {code}")


def class_of(key):
    """As HEAD tells it; boto3 leaves out what the answer does not have."""
    return s3.head_object(Bucket=BUCKET, Key=key).get("StorageClass", "STANDARD")


def get(key):
    return s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def unknown():
    s3.create_bucket(Bucket=BUCKET)
    failure("InvalidStorageClass", s3.put_object, Key="k", Body=b"x", StorageClass=IA)
    failure("InvalidStorageClass", s3.create_multipart_upload, Key="k", StorageClass=IA)
    s3.put_object(Bucket=BUCKET, Key="plain", Body=content(200_000), StorageClass="STANDARD")
    source = {"Bucket": BUCKET, "Key": "plain"}
    failure("InvalidStorageClass", s3.copy_object, Key="k", CopySource=source, StorageClass=IA)
    assert class_of("plain") == "STANDARD"


def multipart(expected):
    """Of parts that were uploaded, copied from the other class and copied from the same one."""
    first, second = content(5 * MIB), content(6 * MIB)
    s3.put_object(Bucket=BUCKET, Key="source", Body=second)
    s3.put_object(Bucket=BUCKET, Key="source-ia", Body=second, StorageClass=IA)
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="multipart", StorageClass=IA)["UploadId"]
    of_upload = {"Bucket": BUCKET, "Key": "multipart", "UploadId": upload}
    parts = [{"PartNumber": 1, "ETag": s3.upload_part(PartNumber=1, Body=first, **of_upload)["ETag"]}]
    for number, source in ((2, "source"), (3, "source-ia")):
        copied = s3.upload_part_copy(PartNumber=number, CopySource={"Bucket": BUCKET, "Key": source}, **of_upload)
        parts.append({"PartNumber": number, "ETag": copied["CopyPartResult"]["ETag"]})
    assert s3.list_parts(**of_upload)["StorageClass"] == IA
    uploads = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    assert [u["StorageClass"] for u in uploads] == [IA]
    s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **of_upload)
    expected["multipart"] = [IA, first + second + second]
    expected["source"], expected["source-ia"] = ["STANDARD", second], [IA, second]


def changes(expected):
    """Appends and patches, which keep the class."""
    whole = bytearray(content(300_000))
    s3.put_object(Bucket=BUCKET, Key="changed", Body=bytes(whole), StorageClass=IA)
    for length in (100, 5000, 200_000):
        more = content(length, 7)
        s3.put_object(Bucket=BUCKET, Key="changed", Body=more, WriteOffsetBytes=len(whole))
        whole += more
    patch = content(70_000, 9)
    whole[1000 : 1000 + len(patch)] = patch
    signed("PATCH", "changed", patch, {"Content-Range": f"bytes 1000-{999 + len(patch)}/*"})
    expected["changed"] = [IA, bytes(whole)]


def signed(method, key, body, headers):
    """Sends what is no operation of boto3."""
    request = AWSRequest(method=method, url=f"{ENDPOINT}/{BUCKET}/{key}", data=body, headers=headers)
    S3SigV4Auth(boto3.Session().get_credentials(), "s3", "us-east-1").add_auth(request)
    plain = urllib.request.Request(request.url, data=body, headers=dict(request.headers), method=method)
    with urllib.request.urlopen(plain) as answer:
        assert answer.status == 200


def copies(expected):
    body = expected["plain"][1]
    source = {"Bucket": BUCKET, "Key": "plain"}
    for key, arguments, storage_class in (
        ("copied-ia", {"StorageClass": IA}, IA),
        ("copied", {}, "STANDARD"),
        ("copied-first", {"StorageClass": "FIRST"}, "FIRST"),
    ):
        s3.copy_object(Bucket=BUCKET, Key=key, CopySource=source, **arguments)
        expected[key] = [storage_class, body]
    s3.copy_object(Bucket=BUCKET, Key="copied-back", CopySource={"Bucket": BUCKET, "Key": "copied-ia"})
    expected["copied-back"] = ["STANDARD", body]
    itself = {"Bucket": BUCKET, "Key": "copied"}
    failure("InvalidRequest", s3.copy_object, Key="copied", CopySource=itself)
    s3.copy_object(Bucket=BUCKET, Key="copied", CopySource=itself, StorageClass=IA)
    expected["copied"][0] = IA
    s3.copy_object(
        Bucket=BUCKET, Key="multipart-plain", CopySource={"Bucket": BUCKET, "Key": "multipart"}, StorageClass="STANDARD"
    )
    expected["multipart-plain"] = ["STANDARD", expected["multipart"][1]]


def by_the_cli(expected):
    """A file that the cli sends in parts, and one that it sends whole."""
    for key, length in (("cli/large", 20 * MIB), ("cli/small", 10_000)):
        body = content(length, 3)
        (FOLDER / "file").write_bytes(body)
        aws("s3", "cp", "--storage-class", IA, FOLDER / "file", f"s3://{BUCKET}/{key}")
        expected[key] = [IA, body]
    aws("s3", "cp", "--recursive", "--storage-class", "STANDARD", f"s3://{BUCKET}/cli/", f"s3://{BUCKET}/back/")
    for key in ("large", "small"):
        expected[f"back/{key}"] = ["STANDARD", expected[f"cli/{key}"][1]]
    (FOLDER / "file").write_bytes(b"x")
    refused = aws("s3", "cp", "--storage-class", "GLACIER", FOLDER / "file", f"s3://{BUCKET}/k", fails=True)
    assert "InvalidStorageClass" in refused, refused


def write():
    expected = {"plain": ["STANDARD", content(200_000)]}
    for length in (0, 1, 5000, 3 * MIB + 7):
        key = f"put-{length}"
        s3.put_object(Bucket=BUCKET, Key=key, Body=content(length), StorageClass=IA)
        expected[key] = [IA, content(length)]
    multipart(expected)
    changes(expected)
    copies(expected)
    by_the_cli(expected)
    for key, (_, body) in expected.items():
        (FOLDER / key.replace("/", "+")).write_bytes(body)
    EXPECTED.write_text(json.dumps({key: storage_class for key, (storage_class, _) in expected.items()}))
    read()


def read():
    expected = json.loads(EXPECTED.read_text())
    for key, storage_class in expected.items():
        assert get(key) == (FOLDER / key.replace("/", "+")).read_bytes(), key
        assert class_of(key) == storage_class, key
        attributes = s3.get_object_attributes(Bucket=BUCKET, Key=key, ObjectAttributes=["StorageClass"])
        assert attributes["StorageClass"] == storage_class, key
    for listed in (
        s3.list_objects(Bucket=BUCKET)["Contents"],
        s3.list_objects_v2(Bucket=BUCKET)["Contents"],
        s3.list_object_versions(Bucket=BUCKET)["Versions"],
    ):
        assert {entry["Key"]: entry["StorageClass"] for entry in listed} == expected
    print(f"{len(expected)} objects read")


def program(*arguments, fails=False):
    """Runs the program that is named as the phase, and returns what it printed."""
    done = subprocess.run(
        [PHASE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        timeout=120,
        env={**os.environ, "HOME": str(FOLDER), "AWS_CA_BUNDLE": ""},
    )
    assert (done.returncode != 0) == fails, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def files():
    """A file that is sent whole, and one that is sent in parts."""
    for name, length in (("small", 10_000), ("large", 20 * MIB)):
        (FOLDER / name).write_bytes(content(length, 5))
    return ("small", "large")


def assert_objects(bucket, classes):
    """The objects of the bucket have these classes, and the bytes of the file that their names begin with."""
    listed = s3.list_objects_v2(Bucket=bucket)["Contents"]
    assert {entry["Key"]: entry["StorageClass"] for entry in listed} == classes, listed
    for key in classes:
        body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        assert body == (FOLDER / key.split("-")[0]).read_bytes(), key


def rclone():
    """Uploads, server-side copies and changes of the class."""
    config, bucket = FOLDER / "rclone.conf", f"rclone-classes-{SEED % 1_000_000}"
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    config.write_text(
        f"[a]\ntype = s3\nprovider = Other\nendpoint = {ENDPOINT}\nregion = us-east-1\n"
        f"access_key_id = {key}\nsecret_access_key = {secret}\n"
    )

    def run(*arguments, **how):
        own = ("--config", config, "--retries", 1, "--low-level-retries", 1)
        return program(*arguments, *own, "--s3-chunk-size", "5M", "--s3-upload-cutoff", "6M", **how)

    run("mkdir", f"a:{bucket}")
    classes = {}
    for name in files():
        for storage_class in (IA, COLD, "STANDARD"):
            put, copy = f"{name}-{storage_class}", f"{name}-{storage_class}-copy"
            other = COLD if storage_class == IA else IA
            run("copyto", "--s3-storage-class", storage_class, name, f"a:{bucket}/{put}")
            run("copyto", "--s3-storage-class", other, f"a:{bucket}/{put}", f"a:{bucket}/{copy}")
            classes[put], classes[copy] = storage_class, other
    assert_objects(bucket, classes)
    tiers = {entry["Path"]: entry.get("Tier", "STANDARD") for entry in json.loads(run("lsjson", f"a:{bucket}"))}
    assert tiers == classes, tiers
    run("settier", COLD, f"a:{bucket}/small-STANDARD")
    run("settier", "STANDARD", f"a:{bucket}/large-{COLD}")
    classes["small-STANDARD"], classes[f"large-{COLD}"] = COLD, "STANDARD"
    assert_objects(bucket, classes)
    refused = run("copyto", "--s3-storage-class", "GLACIER", "small", f"a:{bucket}/k", fails=True)
    assert "InvalidStorageClass" in refused, refused


def mc():
    """Uploads, streams, mirrors and server-side copies."""
    bucket = f"mc-classes-{SEED % 1_000_000}"
    own = ("--config-dir", FOLDER / "mc", "--quiet", "--no-color")

    def run(*arguments, **how):
        return program(*own, *arguments, **how)

    run("alias", "set", "a", ENDPOINT, os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    run("mb", f"a/{bucket}")
    classes = {}
    for name in files():
        for storage_class in (IA, COLD, "STANDARD"):
            put, copy = f"{name}-{storage_class}", f"{name}-{storage_class}-copy"
            other = COLD if storage_class == IA else IA
            run("cp", "--storage-class", storage_class, name, f"a/{bucket}/{put}")
            run("cp", "--storage-class", other, f"a/{bucket}/{put}", f"a/{bucket}/{copy}")
            classes[put], classes[copy] = storage_class, other
    with (FOLDER / "large").open("rb") as stream:
        pipe = [PHASE, *map(str, own), "pipe", "--storage-class", COLD, f"a/{bucket}/large-piped"]
        subprocess.run(pipe, stdin=stream, check=True, cwd=FOLDER, env={**os.environ, "HOME": str(FOLDER)})
    classes["large-piped"] = COLD
    assert_objects(bucket, classes)
    listed = [json.loads(line) for line in run("ls", "--json", f"a/{bucket}").splitlines()]
    assert {entry["key"]: entry["storageClass"] for entry in listed} == classes, listed
    refused = run("cp", "--storage-class", "GLACIER", "small", f"a/{bucket}/k", fails=True)
    assert "storage class" in refused.lower(), refused


{"unknown": unknown, "write": write, "read": read, "rclone": rclone, "mc": mc}[PHASE]()
