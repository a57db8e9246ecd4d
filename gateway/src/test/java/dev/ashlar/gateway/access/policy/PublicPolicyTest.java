package dev.ashlar.gateway.access.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PublicPolicyTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '~',
      value = {
        "Allow; 'Principal': '*'; {}; true",
        "Allow; 'Principal': {'AWS': '*'}; {}; true",
        "Allow; 'Principal': {'AWS': ['111111111111', '*']}; {}; true",
        "Allow; 'NotPrincipal': {'AWS': '111111111111'}; {}; true",
        "Allow; 'Principal': {'AWS': '111111111111'}; {}; false",
        "Allow; 'Principal': {'CanonicalUser': 'abc'}; {}; false",
        "Allow; 'Principal': {'Service': 'logging.s3.amazonaws.com'}; {}; false",
        "Deny; 'Principal': '*'; {}; false",
        "Deny; 'NotPrincipal': {'AWS': '111111111111'}; {}; false",
        "Allow; 'Principal': '*'; {'StringLike': {'aws:SourceVpc': 'vpc-*'}}; true",
        "Allow; 'Principal': '*'; {'StringLike': {'aws:SourceVpc': 'vpc-91237329'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:SourceVpc': 'vpc-91237329'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'AWS:sourcevpc': ['vpc-1', 'vpc-2']}}; false",
        "Allow; 'Principal': '*'; {'StringLike': {'aws:SourceVpc': ['vpc-1', 'vpc-*']}}; true",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:SourceVpc': '${aws:username}'}}; true",
        "Allow; 'Principal': '*'; {'StringNotEquals': {'aws:SourceVpc': 'vpc-1'}}; true",
        "Allow; 'Principal': '*'; {'StringEqualsIfExists': {'aws:SourceVpc': 'vpc-1'}}; true",
        "Allow; 'Principal': '*'; {'ForAllValues:StringEquals': {'aws:SourceVpc': 'v'}}; true",
        "Allow; 'Principal': '*'; {'ForAnyValue:StringEquals': {'aws:SourceVpc': 'v'}}; false",
        "Allow; 'Principal': '*'; {'Null': {'aws:SourceVpc': false}}; true",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:SourceVpce': 'vpce-1'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:SourceAccount': '111111111111'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:SourceOwner': '111111111111'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:PrincipalOrgID': 'o-1'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:PrincipalAccount': '1'}}; false",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:userid': 'AIDA1'}}; false",
        "Allow; 'Principal': '*'; {'StringLike': {'aws:userid': 'AROA1:*'}}; true",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:UserAgent': 'curl'}}; true",
        "Allow; 'Principal': '*'; {'StringEquals': {'aws:Referer': 'https://a/'}}; true",
        "Allow; 'Principal': '*'; {'Bool': {'aws:SecureTransport': true}}; true",
        "Allow; 'Principal': '*'; {'ArnEquals': {'aws:SourceArn': 'arn:aws:s3:::b'}}; false",
        "Allow; 'Principal': '*'; {'ArnLike': {'aws:SourceArn': 'arn:aws:s3:::*'}}; true",
        "Allow; 'Principal': '*'; {'ArnLike': {'aws:PrincipalArn': 'arn:aws:iam::1:user/a'}}; false",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '192.0.2.0/24'}}; false",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '10.0.0.0/8'}}; false",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '10.0.0.0/7'}}; true",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '0.0.0.0/1'}}; true",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '2001:db8::/32'}}; false",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': '2001::/31'}}; true",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:SourceIp': ['192.0.2.0/24', '::/0']}}; true",
        "Allow; 'Principal': '*'; {'NotIpAddress': {'aws:SourceIp': '192.0.2.0/24'}}; true",
        "Allow; 'Principal': '*'; {'IpAddress': {'aws:VpcSourceIp': '10.0.0.0/8'}}; true",
        "Allow; 'Principal': '*';"
            + " {'StringEquals': {'s3:x-amz-server-side-encryption-aws-kms-key-id': 'k'}}; false",
        "Allow; 'Principal': '*'; {'ArnLike': {'s3:DataAccessPointArn':"
            + " 'arn:aws:s3:us-west-2:123456789012:accesspoint/*'}}; false",
        "Allow; 'Principal': '*'; {'ArnLike': {'s3:DataAccessPointArn':"
            + " 'arn:aws:s3:us-west-2:*:accesspoint/*'}}; true",
        "Allow; 'Principal': '*'; {'StringEquals': {'s3:DataAccessPointAccount': '1'}}; false",
        "Allow; 'Principal': '*'; {'Bool': {'aws:SecureTransport': true},"
            + " 'StringEquals': {'aws:SourceVpc': 'vpc-1', 's3:prefix': 'a'}}; false",
      })
  void isPublic(String effect, String principal, String condition, boolean isExpected) {
    Policy policy =
        Documents.bucketPolicy(
            "{'Effect': '%s', %s, 'Action': 's3:PutObject', 'Resource': '*', 'Condition': %s}"
                .formatted(effect, principal, condition));
    assertEquals(isExpected, policy.isPublic());
  }
}
