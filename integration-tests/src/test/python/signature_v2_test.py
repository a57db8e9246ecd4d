"""Signature version 2 with boto3. Run by SignatureV2IT: signature_v2_test.py ENDPOINT BUCKET."""

import sys
import urllib.error
import urllib.request

import boto3
from botocore.config import Config

ENDPOINT, bucket = sys.argv[1:3]


def client(version, style):
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        config=Config(signature_version=version, s3={"addressing_style": style}, retries={"max_attempts": 0}),
    )


def url_status(url, method="GET", data=None, headers={}):
    try:
        request = urllib.request.Request(url, method=method, data=data, headers=headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


for style in ("path", "virtual"):
    old = client("s3", style)
    key = f"folder {style}/a+b=ü"
    if style == "path":
        old.create_bucket(Bucket=bucket)
    old.put_object(Bucket=bucket, Key=key, Body=b"hello", ContentType="text/plain", Metadata={"a": "b"})
    assert old.get_object(Bucket=bucket, Key=key)["Body"].read() == b"hello"
    assert old.head_object(Bucket=bucket, Key=key)["Metadata"] == {"a": "b"}
    assert [o["Key"] for o in old.list_objects_v2(Bucket=bucket, Prefix="folder ")["Contents"]] == [key]
    old.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": key})
    upload = old.create_multipart_upload(Bucket=bucket, Key="parts")["UploadId"]
    part = old.upload_part(Bucket=bucket, Key="parts", UploadId=upload, PartNumber=1, Body=b"part")
    old.complete_multipart_upload(
        Bucket=bucket,
        Key="parts",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    assert old.get_object(Bucket=bucket, Key="parts")["Body"].read() == b"part"
    overridden = old.get_object(Bucket=bucket, Key=key, ResponseContentType="a/b; c=d")
    assert overridden["ContentType"] == "a/b; c=d"
    url = old.generate_presigned_url("get_object", {"Bucket": bucket, "Key": key}, ExpiresIn=100)
    if style == "path":
        assert "AWSAccessKeyId=" in url and url_status(url) == (200, b"hello"), url
        assert url_status(url.replace("Signature=", "Signature=A"))[0] == 403
        assert url_status(url + "&attributes")[0] == 403
        assert url_status(url, "PUT", b"other")[0] == 403
        assert url_status(url, headers={"x-amz-checksum-mode": "ENABLED"})[0] == 403
    answer = old.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": k} for k in (key, "copy", "parts")]})
    assert len(answer["Deleted"]) == 3
# The policy of a form is signed, too.
post = client("s3", "path").generate_presigned_post(bucket, "form", {"acl": "private"}, [{"acl": "private"}])
assert "AWSAccessKeyId" in post["fields"], post


def post_form(fields):
    parts = {**fields, "file": "content"}
    body = "".join(f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in parts.items())
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    return url_status(post["url"], "POST", (body + "--b--").encode(), headers)[0]


assert post_form({**post["fields"], "signature": "AAAA"}) == 403
assert post_form({**post["fields"], "acl": "public-read"}) == 403
assert post_form(post["fields"]) == 204
assert client("s3", "path").get_object(Bucket=bucket, Key="form")["Body"].read() == b"content"
client("s3", "path").delete_object(Bucket=bucket, Key="form")
# Version 4 is accepted besides.
assert client("s3v4", "path").list_objects_v2(Bucket=bucket)["KeyCount"] == 0
client("s3", "path").delete_bucket(Bucket=bucket)
print("signature version 2 works")
