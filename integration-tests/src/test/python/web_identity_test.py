"""A session for a token of an identity provider. Run by WebIdentityIT: ENDPOINT URL THUMBPRINT TOKEN EXPIRED."""

import json
import sys

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, url, thumbprint, token, expired = sys.argv[1:6]


def client(service, **arguments):
    config = arguments.pop("config", Config(retries={"max_attempts": 0}))
    return boto3.client(service, endpoint_url=ENDPOINT, region_name="us-east-1", config=config, **arguments)


def assert_error(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        got = error.response["Error"]["Code"]
        assert got == code, f"{got}, not {code}"
        return
    raise AssertionError(f"no error, expected {code}")


iam, s3 = client("iam"), client("s3")
s3.create_bucket(Bucket="web-identity")
s3.put_object(Bucket="web-identity", Key="lake/a", Body=b"a")
provider = iam.create_open_id_connect_provider(Url=url, ClientIDList=["lake"], ThumbprintList=["00" * 20])[
    "OpenIDConnectProviderArn"
]
name = url.removeprefix("https://")
trust = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{name}:sub": "alice", f"{name}:aud": "lake"}},
    },
}
role = iam.create_role(RoleName="lake", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
read = {
    "Version": "2012-10-17",
    "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::web-identity/lake/*"},
}
iam.put_role_policy(RoleName="lake", PolicyName="read", PolicyDocument=json.dumps(read))
sts = client("sts", config=Config(signature_version=UNSIGNED, retries={"max_attempts": 0}))
arguments = {"RoleArn": role, "RoleSessionName": "work"}
# The certificate of the provider is not trusted yet.
assert_error(
    "InvalidIdentityToken", sts.assume_role_with_web_identity, WebIdentityToken=token, **arguments
)
iam.update_open_id_connect_provider_thumbprint(OpenIDConnectProviderArn=provider, ThumbprintList=[thumbprint])
answer = sts.assume_role_with_web_identity(WebIdentityToken=token, **arguments)
assert answer["SubjectFromWebIdentityToken"] == "alice" and answer["Provider"] == provider
keys = answer["Credentials"]
session = client(
    "s3",
    aws_access_key_id=keys["AccessKeyId"],
    aws_secret_access_key=keys["SecretAccessKey"],
    aws_session_token=keys["SessionToken"],
)
assert session.get_object(Bucket="web-identity", Key="lake/a")["Body"].read() == b"a"
assert_error("AccessDenied", session.put_object, Bucket="web-identity", Key="lake/a", Body=b"b")
assert_error("AccessDenied", session.list_objects_v2, Bucket="web-identity")
assert_error(
    "ExpiredTokenException", sts.assume_role_with_web_identity, WebIdentityToken=expired, **arguments
)
assert_error(
    "InvalidIdentityToken", sts.assume_role_with_web_identity, WebIdentityToken=token[:-4] + "AAAA", **arguments
)
iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider)
assert_error(
    "InvalidIdentityToken", sts.assume_role_with_web_identity, WebIdentityToken=token, **arguments
)
print("a token of an identity provider begins a session")
