"""Accounts, bucket policies, public access blocks, ownership controls and ACLs with boto3.

Run by AccessIT: access_test.py ENDPOINT SEED ACCOUNT ACCOUNT, each account as its creation answered it.
"""

import json
import sys
import time
import urllib.error
import urllib.request

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
ONE, TWO = json.loads(sys.argv[3]), json.loads(sys.argv[4])
suffix = str(SEED % 1_000_000)
bucket = f"access-{suffix}"


def client(service, account=None, keys=None):
    arguments = {}
    if account:
        arguments = {"aws_access_key_id": account["accessKey"], "aws_secret_access_key": account["secretKey"]}
    if keys:
        arguments = {
            "aws_access_key_id": keys["AccessKeyId"],
            "aws_secret_access_key": keys["SecretAccessKey"],
        }
    s3 = {"s3": {"addressing_style": "path"}, "signature_version": "s3v4"} if service == "s3" else {}
    return boto3.client(
        service,
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, **s3),
        **arguments,
    )


def assert_error(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = error.response["Error"]["Code"]
        assert got == code, f"{got}, not {code}"
        return
    raise AssertionError(f"no error, expected {code}")


def url_status(url, headers={}):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def statement(effect, principal, *actions, **more):
    resources = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    return {"Effect": effect, "Principal": principal, "Action": list(actions), "Resource": resources, **more}


one, two = client("s3", ONE), client("s3", TWO)
anonymous = boto3.client(
    "s3",
    endpoint_url=ENDPOINT,
    region_name="us-east-1",
    config=Config(signature_version=UNSIGNED, retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
)


def buckets_belong_to_accounts():
    one.create_bucket(Bucket=bucket)
    one.put_object(Bucket=bucket, Key="k", Body=b"data")
    assert [b["Name"] for b in one.list_buckets()["Buckets"]] == [bucket]
    assert one.list_buckets()["Owner"]["ID"] == ONE["canonicalId"]
    assert two.list_buckets()["Buckets"] == []
    for other in (two, anonymous):
        assert_error("AccessDenied", other.get_object, Bucket=bucket, Key="k")
        assert_error("403", other.head_object, Bucket=bucket, Key="k")
        assert_error("AccessDenied", other.put_object, Bucket=bucket, Key="k", Body=b"x")
        assert_error("AccessDenied", other.delete_object, Bucket=bucket, Key="k")
        assert_error("AccessDenied", other.list_objects_v2, Bucket=bucket)
        assert_error("AccessDenied", other.get_bucket_acl, Bucket=bucket)
        assert_error("AccessDenied", other.put_bucket_acl, Bucket=bucket, ACL="public-read")
        assert_error("AccessDenied", other.put_bucket_policy, Bucket=bucket, Policy=policy(statement("Allow", "*", "s3:*")))
        assert_error("AccessDenied", other.delete_bucket, Bucket=bucket)
        assert_error("NoSuchBucket", other.get_object, Bucket=bucket + "-none", Key="k")
    assert_error("BucketAlreadyExists", two.create_bucket, Bucket=bucket)
    assert_error("AccessDenied", anonymous.create_bucket, Bucket=bucket + "-2")
    assert_error("AccessDenied", anonymous.list_buckets)
    one.head_bucket(Bucket=bucket, ExpectedBucketOwner=ONE["account"])
    one.head_bucket(Bucket=bucket, ExpectedBucketOwner=ONE["canonicalId"])
    assert_error("403", one.head_bucket, Bucket=bucket, ExpectedBucketOwner=TWO["account"])


def policies():
    assert_error("NoSuchBucketPolicy", one.get_bucket_policy, Bucket=bucket)
    assert_error("MalformedPolicy", one.put_bucket_policy, Bucket=bucket, Policy="{}")
    text = policy(statement("Allow", "*", "s3:GetObject"))
    one.put_bucket_policy(Bucket=bucket, Policy=text)
    assert one.get_bucket_policy(Bucket=bucket)["Policy"] == text
    assert one.get_bucket_policy_status(Bucket=bucket)["PolicyStatus"]["IsPublic"] is True
    assert url_status(f"{ENDPOINT}/{bucket}/k") == 200
    assert url_status(f"{ENDPOINT}/{bucket}/none") == 403
    assert url_status(f"{ENDPOINT}/{bucket}") == 403
    one.put_bucket_policy(
        Bucket=bucket, Policy=policy(statement("Allow", {"AWS": TWO["account"]}, "s3:GetObject", "s3:PutObject"))
    )
    assert one.get_bucket_policy_status(Bucket=bucket)["PolicyStatus"]["IsPublic"] is False
    assert url_status(f"{ENDPOINT}/{bucket}/k") == 403
    assert two.get_object(Bucket=bucket, Key="k")["Body"].read() == b"data"
    # A copy needs the source's right and the target's.
    two.copy_object(Bucket=bucket, Key="copy", CopySource=f"{bucket}/k")
    one.put_bucket_policy(Bucket=bucket, Policy=policy(statement("Allow", {"AWS": TWO["account"]}, "s3:PutObject")))
    assert_error("AccessDenied", two.copy_object, Bucket=bucket, Key="copy", CopySource=f"{bucket}/k")
    one.delete_object(Bucket=bucket, Key="copy")
    one.put_bucket_policy(Bucket=bucket, Policy=policy(statement("Deny", "*", "s3:*")))
    assert_error("AccessDenied", one.get_object, Bucket=bucket, Key="k")
    one.delete_bucket_policy(Bucket=bucket)
    assert one.get_object(Bucket=bucket, Key="k")["Body"].read() == b"data"


def users_of_another_account():
    iam = client("iam", TWO)
    iam.create_user(UserName="bob")
    bob = client("s3", keys=iam.create_access_key(UserName="bob")["AccessKey"])
    arn = f"arn:aws:iam::{TWO['account']}:user/bob"
    one.put_bucket_policy(Bucket=bucket, Policy=policy(statement("Allow", {"AWS": arn}, "s3:GetObject")))
    # Both sides have to allow it.
    assert_error("AccessDenied", bob.get_object, Bucket=bucket, Key="k")
    allowed = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    iam.put_user_policy(UserName="bob", PolicyName="all", PolicyDocument=policy(allowed))
    assert bob.get_object(Bucket=bucket, Key="k")["Body"].read() == b"data"
    assert_error("AccessDenied", bob.put_object, Bucket=bucket, Key="k", Body=b"x")
    assert_error("AccessDenied", two.get_object, Bucket=bucket, Key="k")
    iam.delete_user_policy(UserName="bob", PolicyName="all")
    assert_error("AccessDenied", bob.get_object, Bucket=bucket, Key="k")
    key = iam.list_access_keys(UserName="bob")["AccessKeyMetadata"][0]["AccessKeyId"]
    iam.delete_access_key(UserName="bob", AccessKeyId=key)
    assert_error("InvalidAccessKeyId", bob.get_object, Bucket=bucket, Key="k")
    iam.delete_user(UserName="bob")
    one.delete_bucket_policy(Bucket=bucket)


def acls():
    one.put_object_acl(Bucket=bucket, Key="k", ACL="public-read")
    assert url_status(f"{ENDPOINT}/{bucket}/k") == 200
    grants = one.get_object_acl(Bucket=bucket, Key="k")["Grants"]
    assert grants[1]["Grantee"]["ID"] == ONE["canonicalId"]
    assert grants[1]["Grantee"]["DisplayName"] == "one"
    assert grants[0]["Grantee"]["URI"].endswith("AllUsers")
    one.put_object_acl(Bucket=bucket, Key="k", GrantRead=f'emailAddress="two-{SEED}@x.example"')
    assert two.get_object(Bucket=bucket, Key="k")["Body"].read() == b"data"
    assert_error("AccessDenied", anonymous.get_object, Bucket=bucket, Key="k")
    acl = one.get_object_acl(Bucket=bucket, Key="k")
    acl["Grants"][0]["Permission"] = "READ_ACP"
    acl = {"Owner": acl["Owner"], "Grants": acl["Grants"]}
    one.put_object_acl(Bucket=bucket, Key="k", AccessControlPolicy=acl)
    assert_error("AccessDenied", two.get_object, Bucket=bucket, Key="k")
    assert two.get_object_acl(Bucket=bucket, Key="k")["Grants"][0]["Grantee"]["DisplayName"] == "two"
    assert_error(
        "UnresolvableGrantByEmailAddress",
        one.put_bucket_acl,
        Bucket=bucket,
        GrantRead='emailAddress="nobody@x.example"',
    )
    one.put_bucket_acl(Bucket=bucket, ACL="public-read-write")
    two.put_object(Bucket=bucket, Key="theirs", Body=b"x")
    assert_error("AccessDenied", one.get_object, Bucket=bucket, Key="theirs")
    two.put_object(Bucket=bucket, Key="theirs", Body=b"x", ACL="bucket-owner-full-control")
    assert one.get_object(Bucket=bucket, Key="theirs")["Body"].read() == b"x"
    one.delete_object(Bucket=bucket, Key="theirs")
    one.put_bucket_acl(Bucket=bucket, ACL="private")


def blocks_and_ownership():
    flags = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    block = {name: True for name in flags}
    one.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=block)
    assert one.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"] == block
    assert_error("AccessDenied", one.put_object_acl, Bucket=bucket, Key="k", ACL="public-read")
    public = policy(statement("Allow", "*", "s3:GetObject"))
    assert_error("AccessDenied", one.put_bucket_policy, Bucket=bucket, Policy=public)
    one.delete_public_access_block(Bucket=bucket)
    assert_error("NoSuchPublicAccessBlockConfiguration", one.get_public_access_block, Bucket=bucket)
    rules = {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    one.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls=rules)
    assert one.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"] == rules
    assert_error("AccessControlListNotSupported", one.put_object_acl, Bucket=bucket, Key="k", ACL="public-read")
    one.delete_bucket_ownership_controls(Bucket=bucket)
    assert_error("OwnershipControlsNotFoundError", one.get_bucket_ownership_controls, Bucket=bucket)


def presigned_urls_carry_no_other_headers():
    deny = statement("Deny", "*", "s3:PutObject", Condition={"StringEquals": {"s3:x-amz-acl": "public-read"}})
    one.put_bucket_policy(Bucket=bucket, Policy=policy(deny))
    assert_error("AccessDenied", one.put_object, Bucket=bucket, Key="open", Body=b"x", ACL="public-read")
    url = one.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "open", "ACL": "public-read"})

    def put(url, headers):
        request = urllib.request.Request(url, data=b"x", method="PUT", headers=headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    assert put(url, {"x-amz-acl": "public-read"}) == 403
    plain = one.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "open"})
    assert put(plain, {"x-amz-acl": "public-read"}) == 403
    assert put(plain + "&x-amz-acl=public-read", {}) == 403
    assert put(plain, {}) == 200
    assert_error("AccessDenied", anonymous.get_object, Bucket=bucket, Key="open")
    one.delete_bucket_policy(Bucket=bucket)


def requester_pays():
    payment = {"Payer": "Requester"}
    assert one.get_bucket_request_payment(Bucket=bucket)["Payer"] == "BucketOwner"
    one.put_bucket_request_payment(Bucket=bucket, RequestPaymentConfiguration=payment)
    assert one.get_bucket_request_payment(Bucket=bucket)["Payer"] == "Requester"
    one.put_bucket_policy(Bucket=bucket, Policy=policy(statement("Allow", "*", "s3:GetObject")))
    assert one.get_object(Bucket=bucket, Key="k")["Body"].read() == b"data"
    assert_error("AccessDenied", two.get_object, Bucket=bucket, Key="k")
    assert_error("AccessDenied", anonymous.get_object, Bucket=bucket, Key="k", RequestPayer="requester")
    answer = two.get_object(Bucket=bucket, Key="k", RequestPayer="requester")
    assert answer["Body"].read() == b"data" and answer["RequestCharged"] == "requester"
    for params, status in (({}, 403), ({"RequestPayer": "requester"}, 200)):
        url = two.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k", **params})
        # boto3 signs the header, so whoever opens the URL has to send it.
        headers = {"x-amz-request-payer": params["RequestPayer"]} if params else {}
        assert url_status(url, headers) == status, url
    one.put_bucket_request_payment(Bucket=bucket, RequestPaymentConfiguration={"Payer": "BucketOwner"})
    assert url_status(f"{ENDPOINT}/{bucket}/k") == 200
    one.delete_bucket_policy(Bucket=bucket)


def access_logs():
    logs = bucket + "-logs"
    one.create_bucket(Bucket=logs)
    enabled = {"TargetBucket": logs, "TargetPrefix": "log/"}
    status = {"LoggingEnabled": enabled}
    assert "LoggingEnabled" not in one.get_bucket_logging(Bucket=bucket)
    wrong = "InvalidTargetBucketForLogging"
    assert_error(wrong, one.put_bucket_logging, Bucket=bucket, BucketLoggingStatus=status)
    allowed = {
        "Effect": "Allow",
        "Principal": {"Service": "logging.s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": f"arn:aws:s3:::{logs}/log/*",
        "Condition": {"StringEquals": {"aws:SourceAccount": ONE["account"]}},
    }
    one.put_bucket_policy(Bucket=logs, Policy=policy(allowed))
    one.put_bucket_logging(Bucket=bucket, BucketLoggingStatus=status)
    assert one.get_bucket_logging(Bucket=bucket)["LoggingEnabled"] == enabled
    assert_error("AccessDenied", two.put_bucket_logging, Bucket=bucket, BucketLoggingStatus={})
    request = one.get_object(Bucket=bucket, Key="k")["ResponseMetadata"]["RequestId"]
    line = ""
    deadline = time.monotonic() + 120
    while request not in line and time.monotonic() < deadline:
        time.sleep(0.2)
        for entry in one.list_objects_v2(Bucket=logs, Prefix="log/").get("Contents", []):
            text = one.get_object(Bucket=logs, Key=entry["Key"])["Body"].read().decode()
            line = "".join(each for each in text.splitlines() if request in each) or line
    for part in (ONE["canonicalId"], bucket, "REST.GET.OBJECT", " k ", " SigV4 ", " AuthHeader ", "Boto3", " 200 "):
        assert part in line, (part, line)
    one.put_bucket_logging(Bucket=bucket, BucketLoggingStatus={})
    assert "LoggingEnabled" not in one.get_bucket_logging(Bucket=bucket)


def websites():
    def page(path, host=f"{bucket}.web.test", **headers):
        request = urllib.request.Request(ENDPOINT + path, headers={"Host": host, **headers})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.headers

    assert_error("NoSuchWebsiteConfiguration", one.get_bucket_website, Bucket=bucket)
    website = {"IndexDocument": {"Suffix": "index.html"}, "ErrorDocument": {"Key": "error.html"}}
    one.put_bucket_website(Bucket=bucket, WebsiteConfiguration=website)
    answer = one.get_bucket_website(Bucket=bucket)
    assert {name: answer[name] for name in website} == website
    assert_error("AccessDenied", two.get_bucket_website, Bucket=bucket)
    for key in ("index.html", "folder/index.html", "error.html"):
        one.put_object(Bucket=bucket, Key=key, Body=key.encode(), ContentType="text/html")
    assert page("/")[0] == 403
    # A signature for the same path and host makes nobody of the reader.
    url = one.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "index.html"})
    assert page("/index.html?" + url.partition("?")[2])[0] == 403
    assert page("/index.html", Authorization="AWS4-HMAC-SHA256 Credential=x")[0] == 403
    one.put_bucket_policy(Bucket=bucket, Policy=policy(statement("Allow", "*", "s3:GetObject", "s3:ListBucket")))
    assert page("/")[:2] == (200, "index.html")
    assert page("/folder/")[:2] == (200, "folder/index.html")
    assert page("/nothing")[:2] == (404, "error.html")
    status, text, headers = page("/", host="none.web.test")
    assert status == 404 and "<li>Code: NoSuchBucket</li>" in text and headers["Content-Type"].startswith("text/html")
    one.delete_bucket_website(Bucket=bucket)
    assert page("/")[0] == 404
    one.delete_bucket_policy(Bucket=bucket)


buckets_belong_to_accounts()
policies()
users_of_another_account()
acls()
blocks_and_ownership()
presigned_urls_carry_no_other_headers()
requester_pays()
access_logs()
websites()
print("access: ok")
