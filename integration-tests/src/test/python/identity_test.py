"""IAM and STS with boto3 and the aws cli. Run by IdentityIT: identity_test.py ENDPOINT SEED."""

import json
import sys
import urllib.error
import urllib.request

import boto3
import cli
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, SEED = sys.argv[1], int(sys.argv[2])
suffix = str(SEED % 1_000_000)
bucket = f"identity-{suffix}"
user = f"alice-{suffix}"
role_name = f"reader-{suffix}"


def client(service, keys=None):
    arguments = {}
    if keys:
        arguments = {
            "aws_access_key_id": keys["AccessKeyId"],
            "aws_secret_access_key": keys["SecretAccessKey"],
            "aws_session_token": keys.get("SessionToken"),
        }
    return boto3.client(
        service,
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}, signature_version="s3v4")
        if service == "s3"
        else Config(retries={"max_attempts": 0}),
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


def allow(actions, *resources):
    statement = {"Effect": "Allow", "Action": actions, "Resource": list(resources)}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def url_status(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def aws(*arguments, keys=None):
    environment = {"AWS_DEFAULT_REGION": "us-east-1"}
    if keys:
        environment["AWS_ACCESS_KEY_ID"] = keys["AccessKeyId"]
        environment["AWS_SECRET_ACCESS_KEY"] = keys["SecretAccessKey"]
        if "SessionToken" in keys:
            environment["AWS_SESSION_TOKEN"] = keys["SessionToken"]
    done = cli.run("--endpoint-url", ENDPOINT, "--output", "json", *arguments, **environment)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


iam, sts, s3 = client("iam"), client("sts"), client("s3")
account = sts.get_caller_identity()["Account"]
assert sts.get_caller_identity()["Arn"] == f"arn:aws:iam::{account}:root"
s3.create_bucket(Bucket=bucket)
s3.put_object(Bucket=bucket, Key="public/a", Body=b"a")
s3.put_object(Bucket=bucket, Key="secret/b", Body=b"b")

# A user with a key may do nothing until a policy allows it.
created = iam.create_user(UserName=user, Path="/staff/", Tags=[{"Key": "team", "Value": "red"}])
assert created["User"]["Arn"] == f"arn:aws:iam::{account}:user/staff/{user}"
key = iam.create_access_key(UserName=user)["AccessKey"]
mine = client("s3", key)
assert_error("AccessDenied", mine.get_object, Bucket=bucket, Key="public/a")
assert_error("AccessDenied", mine.get_object, Bucket=bucket, Key="public/none")
assert_error("AccessDenied", mine.list_buckets)
arn = f"arn:aws:s3:::{bucket}"
iam.put_user_policy(
    UserName=user,
    PolicyName="own",
    PolicyDocument=allow(["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], f"{arn}/public/*"),
)
assert iam.get_user_policy(UserName=user, PolicyName="own")["PolicyDocument"]["Version"] == "2012-10-17"
assert mine.get_object(Bucket=bucket, Key="public/a")["Body"].read() == b"a"
mine.put_object(Bucket=bucket, Key="public/c", Body=b"c")
for call in (mine.get_object, mine.delete_object):
    assert_error("AccessDenied", call, Bucket=bucket, Key="secret/b")
assert_error("AccessDenied", mine.put_object, Bucket=bucket, Key="secret/b", Body=b"x")
assert_error("AccessDenied", mine.list_objects_v2, Bucket=bucket)
assert_error(
    "AccessDenied",
    mine.copy_object,
    Bucket=bucket,
    Key="public/stolen",
    CopySource={"Bucket": bucket, "Key": "secret/b"},
)
answer = mine.delete_objects(
    Bucket=bucket, Delete={"Objects": [{"Key": "public/c"}, {"Key": "secret/b"}]}
)
assert [d["Key"] for d in answer["Deleted"]] == ["public/c"]
assert [(e["Key"], e["Code"]) for e in answer["Errors"]] == [("secret/b", "AccessDenied")]
assert_error("AccessDenied", client("iam", key).list_users)
assert_error("AccessDenied", client("iam", key).create_access_key, UserName=user)

# The address of the connection and whether it is encrypted count.
for operator, name, value in (
    ("IpAddress", "aws:SourceIp", "127.0.0.0/8"),
    ("Bool", "aws:SecureTransport", "false"),
):
    statement = {"Effect": "Deny", "Action": "s3:*", "Resource": "*", "Condition": {operator: {name: value}}}
    deny = json.dumps({"Version": "2012-10-17", "Statement": statement})
    iam.put_user_policy(UserName=user, PolicyName="deny", PolicyDocument=deny)
    assert_error("AccessDenied", mine.get_object, Bucket=bucket, Key="public/a")
iam.delete_user_policy(UserName=user, PolicyName="deny")
assert mine.get_object(Bucket=bucket, Key="public/a")["Body"].read() == b"a"

# A list may be limited to a prefix.
iam.put_user_policy(
    UserName=user,
    PolicyName="list",
    PolicyDocument=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": {
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": arn,
                "Condition": {"StringLike": {"s3:prefix": "public/*"}},
            },
        }
    ),
)
listed = mine.list_objects_v2(Bucket=bucket, Prefix="public/")["Contents"]
assert [o["Key"] for o in listed] == ["public/a"]
assert_error("AccessDenied", mine.list_objects_v2, Bucket=bucket, Prefix="secret/")
assert_error("AccessDenied", mine.list_objects_v2, Bucket=bucket)

# A role gives its rights for a while, in headers and in URLs; a session policy takes some away.
role = iam.create_role(
    RoleName=role_name,
    AssumeRolePolicyDocument=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": {
                "Effect": "Allow",
                "Principal": {"AWS": created["User"]["Arn"]},
                "Action": "sts:AssumeRole",
            },
        }
    ),
)["Role"]
policy = iam.create_policy(
    PolicyName=role_name, PolicyDocument=allow("s3:GetObject", f"{arn}/*")
)["Policy"]
iam.attach_role_policy(RoleName=role_name, PolicyArn=policy["Arn"])
assumed = client("sts", key).assume_role(RoleArn=role["Arn"], RoleSessionName="work")
session = assumed["Credentials"]
reader = client("s3", session)
assert reader.get_object(Bucket=bucket, Key="secret/b")["Body"].read() == b"b"
assert_error("AccessDenied", reader.put_object, Bucket=bucket, Key="secret/b", Body=b"x")
url = reader.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "secret/b"})
assert url_status(url) == (200, b"b")
broken = url.replace("X-Amz-Security-Token=C", "X-Amz-Security-Token=D")
assert broken != url and url_status(broken)[0] in (400, 403)
narrow = client("sts", key).assume_role(
    RoleArn=role["Arn"], RoleSessionName="narrow", Policy=allow("s3:*", f"{arn}/public/*")
)["Credentials"]
assert client("s3", narrow).get_object(Bucket=bucket, Key="public/a")["Body"].read() == b"a"
assert_error("AccessDenied", client("s3", narrow).get_object, Bucket=bucket, Key="secret/b")
assert_error("AccessDenied", client("s3", narrow).put_object, Bucket=bucket, Key="public/x", Body=b"x")
without = {k: v for k, v in session.items() if k != "SessionToken"}
assert_error("InvalidAccessKeyId", client("s3", without).get_object, Bucket=bucket, Key="secret/b")
altered = dict(session, SessionToken=session["SessionToken"][:-9] + "AAAAAAAAA")
assert_error("InvalidToken", client("s3", altered).get_object, Bucket=bucket, Key="secret/b")

# A session of the user has the rights of the user, and ends with its key.
token = client("sts", key).get_session_token()["Credentials"]
assert client("s3", token).get_object(Bucket=bucket, Key="public/a")["Body"].read() == b"a"
assert_error("AccessDenied", client("s3", token).get_object, Bucket=bucket, Key="secret/b")

# The aws cli.
code, who, error = aws("sts", "get-caller-identity", keys=session)
assert code == 0 and who["Arn"].endswith(f":assumed-role/{role_name}/work"), error
code, found, error = aws("iam", "get-user", "--user-name", user)
assert code == 0 and found["User"]["Tags"] == [{"Key": "team", "Value": "red"}], error
code, _, error = aws("iam", "delete-user", "--user-name", user)
assert code != 0 and "DeleteConflict" in error, error
code, _, error = aws("iam", "get-user", "--user-name", "nobody")
assert code != 0 and "NoSuchEntity" in error, error
code, users, error = aws("iam", "list-users", "--path-prefix", "/staff/", "--page-size", "1")
assert code == 0 and user in [u["UserName"] for u in users["Users"]], error

# What is taken away counts at once.
iam.detach_role_policy(RoleName=role_name, PolicyArn=policy["Arn"])
assert_error("AccessDenied", reader.get_object, Bucket=bucket, Key="secret/b")
iam.update_access_key(UserName=user, AccessKeyId=key["AccessKeyId"], Status="Inactive")
assert_error("InvalidAccessKeyId", mine.get_object, Bucket=bucket, Key="public/a")
assert_error("InvalidToken", client("s3", token).get_object, Bucket=bucket, Key="public/a")
iam.delete_access_key(UserName=user, AccessKeyId=key["AccessKeyId"])
assert_error("InvalidAccessKeyId", mine.get_object, Bucket=bucket, Key="public/a")
iam.delete_role(RoleName=role_name)
assert_error("InvalidToken", reader.get_object, Bucket=bucket, Key="public/a")
iam.delete_policy(PolicyArn=policy["Arn"])
iam.delete_user_policy(UserName=user, PolicyName="own")
iam.delete_user_policy(UserName=user, PolicyName="list")
iam.delete_user(UserName=user)
print("IAM and STS work with boto3 and the aws cli")
