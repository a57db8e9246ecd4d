"""boto3 and the aws cli over TLS. Run by TlsIT: tls_test.py PLAIN_ENDPOINT TLS_ENDPOINT SEED CA FOLDER."""

import base64
import filecmp
import hashlib
import pathlib
import random
import ssl
import socket
import sys
import urllib.error
import urllib.parse
import urllib.request

import boto3
import cli
from botocore.config import Config

ENDPOINT, SEED, CA, FOLDER = sys.argv[2], int(sys.argv[3]), sys.argv[4], pathlib.Path(sys.argv[5])
MIB = 1024 * 1024
CONFIG = FOLDER / "config"
CONFIG.write_text("[default]\ns3 =\n  signature_version = s3v4\n")
bucket = f"tls-{SEED % 1_000_000}"


def client(**config):
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        verify=CA,
        # URLs would be signed with the retired version 2.
        config=Config(
            retries={"max_attempts": 0}, signature_version="s3v4", s3={"addressing_style": "path"}, **config
        ),
    )


def content(length):
    return random.Random(SEED + length).randbytes(length)


def body_hash_of(s3, **arguments):
    """How the body of a PUT is signed."""
    seen = []
    s3.meta.events.register(
        "before-send.s3.PutObject", lambda request, **_: seen.append(request.headers["x-amz-content-sha256"]) and None
    )
    s3.put_object(Bucket=bucket, Key="hash", Body=b"hash", **arguments)
    value = seen[0]
    return value.decode() if isinstance(value, bytes) else value


def test_boto3():
    s3 = client()
    s3.create_bucket(Bucket=bucket)
    assert body_hash_of(s3) == "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    for length in (0, 1, 100_000, 20 * MIB):
        data = content(length)
        s3.put_object(Bucket=bucket, Key=f"b/{length}", Body=data)
        assert s3.get_object(Bucket=bucket, Key=f"b/{length}")["Body"].read() == data
    md5 = base64.b64encode(hashlib.md5(b"hash").digest()).decode()
    without_checksum = client(request_checksum_calculation="when_required")
    assert body_hash_of(without_checksum, ContentMD5=md5) == "UNSIGNED-PAYLOAD"
    assert s3.get_object(Bucket=bucket, Key="hash")["Body"].read() == b"hash"


def test_multipart():
    s3 = client()
    upload = s3.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    parts = [content(5 * MIB), content(77)]
    done = [
        {
            "PartNumber": i,
            "ETag": s3.upload_part(Bucket=bucket, Key="parts", UploadId=upload, PartNumber=i, Body=part)["ETag"],
        }
        for i, part in enumerate(parts, 1)
    ]
    answer = s3.complete_multipart_upload(
        Bucket=bucket, Key="parts", UploadId=upload, MultipartUpload={"Parts": done}
    )
    assert answer["Location"] == f"{ENDPOINT}/{bucket}/parts", answer
    assert s3.get_object(Bucket=bucket, Key="parts")["Body"].read() == b"".join(parts)


def test_presigned():
    url = client().generate_presigned_url("get_object", {"Bucket": bucket, "Key": "b/100000"})
    assert url.startswith("https://"), url
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=CA)) as answer:
        assert answer.read() == content(100_000)


def test_other_authorities_are_not_trusted():
    try:
        urllib.request.urlopen(ENDPOINT)
    except urllib.error.URLError as error:
        assert isinstance(error.reason, ssl.SSLCertVerificationError), error
        return
    raise AssertionError("trusted")


def aws(*arguments):
    command = ("--endpoint-url", ENDPOINT, "--region", "us-east-1", "--ca-bundle", CA, *arguments)
    done = cli.run(*command, AWS_CONFIG_FILE=str(CONFIG))
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_aws_cli():
    for length in (9, 20 * MIB):
        there, back = FOLDER / f"there-{length}", FOLDER / f"back-{length}"
        there.write_bytes(content(length))
        aws("s3", "cp", "--no-progress", there, f"s3://{bucket}/cli/{length}")
        aws("s3", "cp", "--no-progress", f"s3://{bucket}/cli/{length}", back)
        assert filecmp.cmp(there, back, shallow=False)
    url = aws("s3", "presign", f"s3://{bucket}/cli/9").strip()
    with urllib.request.urlopen(url, context=ssl.create_default_context(cafile=CA)) as answer:
        assert answer.read() == content(9)


def negotiated(version):
    context = ssl.create_default_context(cafile=CA)
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    where = urllib.parse.urlsplit(ENDPOINT)
    with socket.create_connection((where.hostname, where.port)) as tcp:
        with context.wrap_socket(tcp, server_hostname=where.hostname) as tls:
            return tls.version()


def test_versions():
    assert negotiated(ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    assert negotiated(ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        try:
            negotiated(old)
        except ssl.SSLError:
            continue
        raise AssertionError(f"{old} is accepted")


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        print(name, flush=True)
        test()
    print(f"{len(tests)} passed")


main()
