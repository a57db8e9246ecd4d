"""What the aws cli makes of the server. Run by AwsCliIT: aws_cli_test.py ENDPOINT SEED FOLDER."""

import concurrent.futures
import filecmp
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import sys
import time
import urllib.error
import urllib.request

import cli

ENDPOINT, SEED, FOLDER = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
MIB = 1024 * 1024
ALGORITHMS = ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512", "XXHASH64", "XXHASH3", "XXHASH128")
CONFIG = FOLDER / "config"
# Version 1 of the cli signs URLs with the retired version 2 unless told.
CONFIG.write_text("[default]\ns3 =\n  signature_version = s3v4\n")
bucket = f"cli-{SEED % 1_000_000}"


def aws(*arguments, fails=False):
    done = cli.run("--endpoint-url", ENDPOINT, "--region", "us-east-1", *arguments, AWS_CONFIG_FILE=str(CONFIG))
    assert (done.returncode != 0) == fails, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr if fails else done.stdout


def s3api(operation, *arguments, fails=False):
    output = aws("s3api", operation, "--bucket", bucket, "--output", "json", *arguments, fails=fails)
    return output if fails else json.loads(output or "{}")


def file(name, length):
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(random.Random(SEED + length).randbytes(length))
    return path


def assert_same(left, right):
    assert filecmp.cmp(left, right, shallow=False), f"{left} and {right} differ"


def test_make_bucket():
    aws("s3", "mb", f"s3://{bucket}")
    assert bucket in aws("s3", "ls")


def test_copies_small_and_large():
    for name, length in (("empty", 0), ("one", 1), ("small.txt", 5120), ("large.bin", 30 * MIB)):
        source = file(name, length)
        aws("s3", "cp", "--no-progress", source, f"s3://{bucket}/cp/{name}")
        aws("s3", "cp", "--no-progress", f"s3://{bucket}/cp/{name}", FOLDER / "back" / name)
        assert_same(source, FOLDER / "back" / name)
    listing = aws("s3", "ls", "--recursive", "--summarize", f"s3://{bucket}/cp/")
    assert "Total Objects: 4" in listing, listing
    assert s3api("head-object", "--key", "cp/large.bin")["ETag"].endswith('-4"')


def test_server_side_copy_and_move():
    aws("s3", "cp", "--no-progress", f"s3://{bucket}/cp/large.bin", f"s3://{bucket}/copied.bin")
    aws("s3", "mv", "--no-progress", f"s3://{bucket}/copied.bin", FOLDER / "back" / "moved.bin")
    assert_same(FOLDER / "large.bin", FOLDER / "back" / "moved.bin")
    aws("s3", "ls", f"s3://{bucket}/copied.bin", fails=True)


def test_sync_both_ways():
    for i in range(25):
        path = file(f"tree/{i % 3}/file {i}.dat", i * 3_000)
        os.utime(path, (time.time() - 10, time.time() - 10))  # S3's times are whole seconds
    aws("s3", "sync", "--no-progress", FOLDER / "tree", f"s3://{bucket}/tree")
    assert aws("s3", "sync", "--no-progress", FOLDER / "tree", f"s3://{bucket}/tree") == ""
    (FOLDER / "tree/0/file 0.dat").unlink()
    deleted = aws("s3", "sync", "--no-progress", "--delete", FOLDER / "tree", f"s3://{bucket}/tree")
    assert deleted.startswith("delete:") and len(deleted.splitlines()) == 1, deleted
    aws("s3", "sync", "--no-progress", f"s3://{bucket}/tree", FOLDER / "synced")
    for path in (FOLDER / "tree").rglob("*.dat"):
        assert_same(path, FOLDER / "synced" / path.relative_to(FOLDER / "tree"))


def test_presign():
    url = aws("s3", "presign", "--expires-in", "60", f"s3://{bucket}/cp/small.txt").strip()
    assert urllib.request.urlopen(url).read() == (FOLDER / "small.txt").read_bytes()


def test_checksum_algorithms():
    body = file("sum.bin", 70_000)
    for algorithm in ALGORITHMS:
        put = s3api("put-object", "--key", "sum", "--body", body, "--checksum-algorithm", algorithm)
        head = s3api("head-object", "--key", "sum", "--checksum-mode", "ENABLED")
        assert head[f"Checksum{algorithm}"] == put[f"Checksum{algorithm}"], (algorithm, put, head)
        assert head["ChecksumType"] == "FULL_OBJECT", head
    attributes = s3api(
        "get-object-attributes", "--key", "sum", "--object-attributes", "ETag", "Checksum", "ObjectSize", "StorageClass"
    )
    assert attributes["ObjectSize"] == 70_000
    assert attributes["ETag"] == hashlib.md5(body.read_bytes()).hexdigest()


def preflight(origin, method, headers=""):
    asked = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    request = urllib.request.Request(f"{ENDPOINT}/{bucket}/cp/small.txt", method="OPTIONS", headers=asked)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def test_cors():
    assert "NoSuchCORSConfiguration" in s3api("get-bucket-cors", fails=True)
    assert preflight("https://app.test", "GET")[0] == 403
    rule = {
        "ID": "app",
        "AllowedOrigins": ["https://*.test"],
        "AllowedMethods": ["GET", "PUT"],
        "AllowedHeaders": ["x-amz-*", "content-type"],
        "ExposeHeaders": ["ETag", "x-amz-version-id"],
        "MaxAgeSeconds": 600,
    }
    s3api("put-bucket-cors", "--cors-configuration", json.dumps({"CORSRules": [rule]}))
    assert s3api("get-bucket-cors")["CORSRules"] == [rule]
    status, headers = preflight("https://app.test", "PUT", "Content-Type, x-amz-meta-a")
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "https://app.test", (status, headers.items())
    assert headers["Access-Control-Allow-Headers"] == "content-type, x-amz-meta-a"
    assert headers["Access-Control-Max-Age"] == "600" and headers["Access-Control-Allow-Credentials"] == "true"
    assert preflight("https://app.test", "DELETE")[0] == 403
    assert preflight("https://app.example", "GET")[0] == 403
    assert preflight("https://app.test", "GET", "authorization")[0] == 403
    url = aws("s3", "presign", f"s3://{bucket}/cp/small.txt").strip()
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Origin": "https://app.test"})) as answer:
        assert answer.read() == (FOLDER / "small.txt").read_bytes()
        assert answer.headers["Access-Control-Expose-Headers"] == "ETag, x-amz-version-id"
    try:
        urllib.request.urlopen(urllib.request.Request(f"{ENDPOINT}/{bucket}/x", headers={"Origin": "https://app.test"}))
        raise AssertionError("anonymous requests are refused")
    except urllib.error.HTTPError as error:
        assert (error.code, error.headers["Access-Control-Allow-Origin"]) == (403, "https://app.test")
    s3api("delete-bucket-cors")
    assert "NoSuchCORSConfiguration" in s3api("get-bucket-cors", fails=True)


def test_multipart_by_hand():
    upload = s3api("create-multipart-upload", "--key", "hand", "--checksum-algorithm", "CRC64NVME")["UploadId"]
    part = s3api(
        "upload-part", "--key", "hand", "--upload-id", upload, "--part-number", 1,
        "--body", FOLDER / "sum.bin", "--checksum-algorithm", "CRC64NVME",
    )  # fmt: skip
    listed = s3api("list-parts", "--key", "hand", "--upload-id", upload)["Parts"]
    assert listed[0]["Size"] == 70_000 and listed[0]["ETag"] == part["ETag"], listed
    assert s3api("list-multipart-uploads")["Uploads"][0]["UploadId"] == upload
    parts = json.dumps({"Parts": [{"ETag": part["ETag"], "PartNumber": 1, "ChecksumCRC64NVME": part["ChecksumCRC64NVME"]}]})
    s3api("complete-multipart-upload", "--key", "hand", "--upload-id", upload, "--multipart-upload", parts)
    head = s3api("head-object", "--key", "hand", "--checksum-mode", "ENABLED")
    assert head["ChecksumType"] == "FULL_OBJECT", head
    assert head["ChecksumCRC64NVME"] == part["ChecksumCRC64NVME"], head


def test_range_and_metadata():
    s3api("copy-object", "--key", "meta", "--copy-source", f"{bucket}/sum", "--metadata", "a=b,c=d", "--metadata-directive", "REPLACE")
    got = s3api("get-object", "--key", "meta", "--range", "bytes=16383-16384", FOLDER / "two")
    assert got["Metadata"] == {"a": "b", "c": "d"} and got["ContentRange"] == "bytes 16383-16384/70000", got
    assert (FOLDER / "two").read_bytes() == (FOLDER / "sum.bin").read_bytes()[16383:16385]


def test_encryption():
    source = file("sealed.bin", 9 * MIB)
    key = FOLDER / "key"
    key.write_bytes(bytes(range(32)))
    back = FOLDER / "sealed.back"
    ways = (
        (("--sse", "AES256"), ()),
        (("--sse", "aws:kms", "--sse-kms-key-id", "it-1"), ()),
        (("--sse-c", "AES256", "--sse-c-key", f"fileb://{key}"),) * 2,
    )
    for number, (asked, opening) in enumerate(ways):
        target = f"s3://{bucket}/sealed-{number}"
        aws("s3", "cp", source, target, *asked)
        aws("s3", "cp", target, back, *opening)
        assert_same(source, back)
        source_key = [word.replace("--sse-c", "--sse-c-copy-source") for word in opening]
        aws("s3", "cp", target, f"s3://{bucket}/opened-{number}", *source_key)
        aws("s3", "cp", f"s3://{bucket}/opened-{number}", back)
        assert_same(source, back)
    assert "400" in aws("s3", "cp", f"s3://{bucket}/sealed-2", back, fails=True)


def test_errors():
    assert "NoSuchKey" in s3api("get-object", "--key", "none", FOLDER / "none", fails=True)
    assert "NoSuchBucket" in aws("s3", "ls", "s3://no-such-bucket-here", fails=True)
    assert "(404)" in s3api("head-object", "--key", "none", fails=True)
    assert "BucketNotEmpty" in aws("s3", "rb", f"s3://{bucket}", fails=True)


def test_remove_everything():
    aws("s3", "rm", "--recursive", f"s3://{bucket}/tree")
    assert "tree/" not in aws("s3", "ls", f"s3://{bucket}/")
    aws("s3", "rb", "--force", f"s3://{bucket}")
    assert bucket not in aws("s3", "ls")


def run(*tests):
    for test in tests:
        print(test.__name__, flush=True)
        test()
    return len(tests)


def main():
    passed = run(test_make_bucket, test_copies_small_and_large)
    # Each call takes half a second, most of it for what the cli prepares: some at once.
    with concurrent.futures.ProcessPoolExecutor(3, multiprocessing.get_context("fork")) as processes:
        chains = [
            processes.submit(run, test_sync_both_ways, test_encryption),
            processes.submit(run, test_checksum_algorithms, test_multipart_by_hand, test_range_and_metadata),
            processes.submit(run, test_server_side_copy_and_move, test_presign, test_cors),
        ]
        passed += sum(chain.result() for chain in chains)
    passed += run(test_errors, test_remove_everything)
    defined = [name for name in globals() if name.startswith("test_")]
    assert passed == len(defined), defined
    print(f"{passed} passed")


main()
