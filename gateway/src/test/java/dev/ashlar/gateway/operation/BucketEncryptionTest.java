package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BucketEncryptionTest {
  private static final String STANDARD =
      "<ApplyServerSideEncryptionByDefault><SSEAlgorithm>%s</SSEAlgorithm>%s"
          + "</ApplyServerSideEncryptionByDefault>";
  private static final String AES = STANDARD.formatted("AES256", "");
  private static final String BLOCKS =
      "<BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes>";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static String configuration(String rules) {
    return "<ServerSideEncryptionConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        + rules
        + "</ServerSideEncryptionConfiguration>";
  }

  private static String rule(String content) {
    return configuration("<Rule>" + content + "</Rule>");
  }

  private TestRequest put(String document) {
    return TestS3.request("PUT", "/bkt?encryption").body(document);
  }

  private static String field(TestAnswer answer, String name) {
    Matcher field = Pattern.compile("<" + name + ">([^<]*)<").matcher(answer.text());
    return field.find() ? field.group(1) : "(absent)";
  }

  private void assertNotConfigured() throws Exception {
    s3.refused("ServerSideEncryptionConfigurationNotFoundError", "GET", "/bkt?encryption");
  }

  @Test
  void nothingIsConfiguredAtFirst() throws Exception {
    assertNotConfigured();
    s3.ok(204, "DELETE", "/bkt?encryption");
    s3.refused("NoSuchBucket", "GET", "/none?encryption");
    s3.refused("NoSuchBucket", "DELETE", "/none?encryption");
    s3.refused("NoSuchBucket", TestS3.request("PUT", "/none?encryption").body(rule(AES)));
  }

  @ParameterizedTest
  @CsvSource({
    "AES256, '', false, AES256, (absent)",
    "aws:kms, <KMSMasterKeyID>kms-2</KMSMasterKeyID>, true, aws:kms, kms-2",
    "aws:kms, '', false, aws:kms, (absent)",
    "aws:kms, <KMSMasterKeyID>arn:aws:kms:eu-west-1:123456789012:key/kms-1</KMSMasterKeyID>, true,"
        + " aws:kms, arn:aws:kms:eu-west-1:123456789012:key/kms-1"
  })
  void whatIsPutIsAnswered(
      String algorithm, String key, boolean bucketKey, String expected, String expectedKey)
      throws Exception {
    String content =
        STANDARD.formatted(algorithm, key)
            + "<BucketKeyEnabled>"
            + bucketKey
            + "</BucketKeyEnabled>";
    s3.ok(200, put(rule(content)));
    TestAnswer answer = s3.ok(200, "GET", "/bkt?encryption");
    assertEquals("ServerSideEncryptionConfiguration", answer.xml().name());
    assertEquals(expected, field(answer, "SSEAlgorithm"));
    assertEquals(expectedKey, field(answer, "KMSMasterKeyID"));
    assertEquals(Boolean.toString(bucketKey), field(answer, "BucketKeyEnabled"));
    // What is answered can be put.
    s3.ok(200, put(answer.text()));
    assertEquals(answer.text(), s3.ok(200, "GET", "/bkt?encryption").text());
    s3.ok(204, "DELETE", "/bkt?encryption");
    assertNotConfigured();
  }

  @Test
  void keysOfClientsCanBeBlocked() throws Exception {
    s3.ok(200, put(rule(BLOCKS)));
    TestAnswer answer = s3.ok(200, "GET", "/bkt?encryption");
    assertEquals("SSE-C", field(answer, "EncryptionType"));
    assertEquals("(absent)", field(answer, "SSEAlgorithm"));
    s3.ok(200, put(rule(AES + BLOCKS.replace("SSE-C", "NONE"))));
    assertEquals("(absent)", field(s3.ok(200, "GET", "/bkt?encryption"), "EncryptionType"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<ServerSideEncryptionConfiguration><Rule>",
        "<Other/>",
        "<ServerSideEncryptionConfiguration/>",
        "<ServerSideEncryptionConfiguration><Rule/></ServerSideEncryptionConfiguration>",
        "<ServerSideEncryptionConfiguration><Rules/></ServerSideEncryptionConfiguration>"
      })
  void documentsThatAreNoneAreRefused(String document) throws Exception {
    s3.refused("MalformedXML", put(document));
    assertNotConfigured();
  }

  @Test
  void rulesThatMeanNothingAreRefused() throws Exception {
    for (String rules :
        List.of(
            "<Rule>" + AES + "</Rule><Rule>" + AES + "</Rule>",
            "<Rule>" + AES + AES + "</Rule>",
            "<Rule>" + AES + "<Other/></Rule>",
            "<Rule>" + AES + "<BucketKeyEnabled>yes</BucketKeyEnabled></Rule>",
            "<Rule>" + STANDARD.formatted("AES512", "") + "</Rule>",
            "<Rule>" + STANDARD.formatted("", "") + "</Rule>",
            "<Rule>" + STANDARD.formatted("AES256", "<Other/>") + "</Rule>",
            "<Rule><ApplyServerSideEncryptionByDefault/></Rule>",
            "<Rule><BlockedEncryptionTypes/></Rule>",
            "<Rule>" + BLOCKS.replace("SSE-C", "SSE-S3") + "</Rule>",
            "<Rule>" + BLOCKS.replace("EncryptionType>", "Type>") + "</Rule>",
            "<Rule><BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType>"
                + "<EncryptionType>NONE</EncryptionType></BlockedEncryptionTypes></Rule>")) {
      s3.refused("MalformedXML", put(configuration(rules)));
    }
    s3.refused(
        "InvalidArgument",
        put(rule(STANDARD.formatted("AES256", "<KMSMasterKeyID>kms-1</KMSMasterKeyID>"))));
    s3.refused("NotImplemented", put(rule(STANDARD.formatted("aws:kms:dsse", ""))));
    s3.refused(
        "KMS.NotFoundException",
        put(rule(STANDARD.formatted("aws:kms", "<KMSMasterKeyID>none</KMSMasterKeyID>"))));
    assertNotConfigured();
  }

  @Test
  void documentsAreBounded() throws Exception {
    s3.refused("MaxMessageLengthExceeded", put(rule(AES + " ".repeat(5 << 20))));
    assertTrue(s3.ok(200, "GET", "/bkt").text().contains("ListBucketResult"));
  }
}
