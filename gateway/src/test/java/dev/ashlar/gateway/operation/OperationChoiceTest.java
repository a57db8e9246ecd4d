package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3RequestParser;
import dev.ashlar.gateway.s3.VirtualHosts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which operation a request is taken for: never the plain one where S3 means another. */
class OperationChoiceTest {
  private static final List<String> METHODS =
      List.of("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH");

  /**
   * The query parameters of S3 (and radosgw's and MinIO's) that choose an operation. For each of
   * {@link #METHODS}, on a bucket, an object and the service: {@code +} is served, {@code N}
   * NotImplemented, {@code .} MethodNotAllowed.
   */
  private static final String TABLE =
      """
      abac                     N.N... ...... ......
      accelerate               +.N... ...... ......
      acl                      +.+... +.+... ......
      analytics                N.N.N. ...... ......
      annotation               ...... N.N.N. ......
      append                   ...... ..++.. ......
      attributes               ...... +..... ......
      cors                     +.+.+. ...... ......
      delete                   ...+.. ...... ......
      encryption               +.+.+. ..+... ......
      events                   N..... ...... N.....
      intelligent-tiering      N.N.N. ...... ......
      inventory                N.N.N. ...... ......
      lambdaArn                ...... N..... ......
      legal-hold               ...... +.+... ......
      lifecycle                +.+.+. ...... ......
      list-type                +..... ...... ......
      location                 +..... ...... ......
      logging                  +.+... ...... ......
      max-directory-buckets    ...... ...... N.....
      metadataAnnotationTable  ..N... ...... ......
      metadataConfiguration    N..NN. ...... ......
      metadataInventoryTable   ..N... ...... ......
      metadataJournalTable     ..N... ...... ......
      metadataTable            N..NN. ...... ......
      metrics                  N.N.N. ...... ......
      notification             +.+... ...... ......
      object-lock              +.+... ...... ......
      ownershipControls        +.+.+. ...... ......
      policy                   +.+.+. ...... ......
      policyStatus             +..... ...... ......
      publicAccessBlock        +.+.+. ...... ......
      renameObject             ...... ..+... ......
      replication              +.N.N. ...... ......
      replication-check        N..... ...... ......
      replication-metrics      N..... ...... ......
      replication-reset        ..N... ...... ......
      replication-reset-status N..... ...... ......
      requestPayment           +.+... ...... ......
      restore                  ...... ...N.. ......
      retention                ...... +.+... ......
      select                   ...... ...N.. ......
      select-type              ...... ...N.. ......
      session                  N..... ...... ......
      tagging                  +.+.+. +.+.+. ......
      torrent                  ...... N..... ......
      uploadId                 ...... +.+++. ......
      uploads                  +..... ...+.. ......
      versioning               +.+... ...... ......
      versions                 +..... ...... ......
      website                  +.+.+. ...... ......
      """;

  private static final List<String> TARGETS = List.of("/bkt", "/bkt/k", "/");
  private static final List<String[]> ROWS =
      TABLE.lines().map(line -> line.split(" +", -1)).toList();

  /** What else than GetUnconfigured a parameter may choose. */
  private static final Map<String, Set<Class<? extends S3Request>>> SERVED =
      Map.ofEntries(
          Map.entry(
              "object-lock",
              Set.of(
                  S3Request.GetObjectLockConfiguration.class,
                  S3Request.PutObjectLockConfiguration.class)),
          Map.entry(
              "retention",
              Set.of(S3Request.GetObjectRetention.class, S3Request.PutObjectRetention.class)),
          Map.entry(
              "legal-hold",
              Set.of(S3Request.GetObjectLegalHold.class, S3Request.PutObjectLegalHold.class)),
          Map.entry(
              "notification",
              Set.of(
                  S3Request.GetBucketNotificationConfiguration.class,
                  S3Request.PutBucketNotificationConfiguration.class)),
          Map.entry(
              "lifecycle",
              Set.of(
                  S3Request.GetBucketLifecycleConfiguration.class,
                  S3Request.PutBucketLifecycleConfiguration.class,
                  S3Request.DeleteBucketLifecycle.class)),
          Map.entry(
              "encryption",
              Set.of(
                  S3Request.GetBucketEncryption.class,
                  S3Request.PutBucketEncryption.class,
                  S3Request.DeleteBucketEncryption.class,
                  S3Request.UpdateObjectEncryption.class)),
          Map.entry(
              "website",
              Set.of(
                  S3Request.GetBucketWebsite.class,
                  S3Request.PutBucketWebsite.class,
                  S3Request.DeleteBucketWebsite.class)),
          Map.entry(
              "logging",
              Set.of(S3Request.GetBucketLogging.class, S3Request.PutBucketLogging.class)),
          Map.entry(
              "requestPayment",
              Set.of(
                  S3Request.GetBucketRequestPayment.class,
                  S3Request.PutBucketRequestPayment.class)),
          Map.entry("renameObject", Set.of(S3Request.RenameObject.class)),
          Map.entry(
              "tagging",
              Set.of(
                  S3Request.GetBucketTagging.class,
                  S3Request.PutBucketTagging.class,
                  S3Request.DeleteBucketTagging.class,
                  S3Request.GetObjectTagging.class,
                  S3Request.PutObjectTagging.class,
                  S3Request.DeleteObjectTagging.class)),
          Map.entry("acl", Set.of(S3Request.GetAcl.class, S3Request.PutAcl.class)),
          Map.entry("append", Set.of(S3Request.AppendObject.class)),
          Map.entry("attributes", Set.of(S3Request.GetObjectAttributes.class)),
          Map.entry(
              "cors",
              Set.of(
                  S3Request.GetBucketCors.class,
                  S3Request.PutBucketCors.class,
                  S3Request.DeleteBucketCors.class)),
          Map.entry("delete", Set.of(S3Request.DeleteObjects.class)),
          Map.entry(
              "list-type", Set.of(S3Request.ListObjectsV2.class, S3Request.ListObjects.class)),
          Map.entry("location", Set.of(S3Request.GetBucketLocation.class)),
          Map.entry(
              "ownershipControls",
              Set.of(
                  S3Request.GetBucketOwnershipControls.class,
                  S3Request.PutBucketOwnershipControls.class,
                  S3Request.DeleteBucketOwnershipControls.class)),
          Map.entry(
              "policy",
              Set.of(
                  S3Request.GetBucketPolicy.class,
                  S3Request.PutBucketPolicy.class,
                  S3Request.DeleteBucketPolicy.class)),
          Map.entry("policyStatus", Set.of(S3Request.GetBucketPolicyStatus.class)),
          Map.entry(
              "publicAccessBlock",
              Set.of(
                  S3Request.GetPublicAccessBlock.class,
                  S3Request.PutPublicAccessBlock.class,
                  S3Request.DeletePublicAccessBlock.class)),
          Map.entry(
              "uploadId",
              Set.of(
                  S3Request.ListParts.class,
                  S3Request.UploadPart.class,
                  S3Request.UploadPartCopy.class,
                  S3Request.CompleteMultipartUpload.class,
                  S3Request.AbortMultipartUpload.class)),
          Map.entry(
              "uploads",
              Set.of(S3Request.ListMultipartUploads.class, S3Request.CreateMultipartUpload.class)),
          Map.entry(
              "versioning",
              Set.of(S3Request.GetBucketVersioning.class, S3Request.PutBucketVersioning.class)),
          Map.entry("versions", Set.of(S3Request.ListObjectVersions.class)));

  private final S3RequestParser parser =
      new S3RequestParser(new S3Config("us-east-1", new VirtualHosts(List.of("s3.test")), "Owner"));

  @Test
  void everyParameterOnEveryMethodAndTarget() {
    List<String> wrong = new ArrayList<>();
    for (String[] row : ROWS) {
      for (int target = 0; target < TARGETS.size(); target++) {
        for (int method = 0; method < METHODS.size(); method++) {
          String uri = TARGETS.get(target) + "?" + row[0];
          char expected = row[target + 1].charAt(method);
          char actual = outcome(row[0], METHODS.get(method), uri);
          if (actual != expected) {
            wrong.add(METHODS.get(method) + " " + uri + ": " + actual + ", not " + expected);
          }
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  private char outcome(String name, String method, String uri) {
    try {
      assertChosenBy(name, parser.parse(TestS3.request(method, uri)), method + " " + uri);
      return '+';
    } catch (S3Exception e) {
      return switch (e.error()) {
        case NOT_IMPLEMENTED, TORRENTS_RETIRED -> 'N';
        case METHOD_NOT_ALLOWED -> '.';
        default -> '+';
      };
    }
  }

  private static void assertChosenBy(String name, S3Request request, String what) {
    boolean isChosen =
        request instanceof S3Request.GetUnconfigured
            || SERVED.getOrDefault(name, Set.of()).contains(request.getClass());
    assertTrue(isChosen, () -> what + " was taken for " + request);
  }

  @Property(tries = 5000)
  void noSpellingMakesItThePlainOperation(@ForAll long seed) {
    Random random = new Random(seed);
    String name = ROWS.get(random.nextInt(ROWS.size()))[0];
    String method = METHODS.get(random.nextInt(METHODS.size()));
    String uri = TARGETS.get(random.nextInt(TARGETS.size())) + "?" + query(name, random);
    TestRequest request = TestS3.request(method, uri);
    if (random.nextInt(4) == 0) {
      request.header("x-amz-copy-source", "/bkt/other");
    }
    if (random.nextInt(4) == 0) {
      request.headers().set("Host", "bkt.s3.test");
    }
    try {
      assertChosenBy(name, parser.parse(request), method + " " + uri);
    } catch (S3Exception refused) {
      assertTrue(refused.error().status() >= 400, refused.error().code());
    }
  }

  private static String query(String name, Random random) {
    List<String> parameters = new ArrayList<>();
    String[] others = {"x-id=PutObject", "x=1", "prefix=a", "partNumber=1", "versionId=null", ""};
    for (int i = random.nextInt(3); i > 0; i--) {
      parameters.add(others[random.nextInt(others.length)]);
    }
    String value = List.of("", "=", "=1", "=2&x", "=a=b").get(random.nextInt(5));
    parameters.add(random.nextInt(parameters.size() + 1), spelled(name, random) + value);
    return String.join("&", parameters);
  }

  /** The name with some letters in the other case and some as percent escapes. */
  private static String spelled(String name, Random random) {
    StringBuilder out = new StringBuilder();
    boolean isOtherCase = random.nextInt(3) == 0;
    boolean isEscaped = random.nextInt(3) == 0;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      char spelled = c;
      if (isOtherCase && random.nextBoolean()) {
        String upper = Character.toString(c).toUpperCase(Locale.ROOT);
        spelled = upper.charAt(0) == c ? Character.toLowerCase(c) : upper.charAt(0);
      }
      boolean isEscape = isEscaped && random.nextBoolean();
      out.append(isEscape ? "%%%02x".formatted((int) spelled) : Character.toString(spelled));
    }
    return out.toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "acl&tagging",
        "tagging&acl",
        "tagging&tagging",
        "attributes&uploadId=1",
        "uploadId=1&uploadId=2",
        "partNumber=1&partNumber=2",
        "versionId=null&versionId=2"
      })
  void parametersThatContradictEachOther(String query) throws Exception {
    TestS3 s3 = new TestS3();
    s3.refused("InvalidArgument", "GET", "/bkt/k?" + query);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "nocache=1", "encryptions", "id=5", "x-id=PutObject", "a=b;c"})
  void otherParametersAreIgnored(String query) throws Exception {
    TestS3 s3 = new TestS3();
    s3.ok(200, "PUT", "/bkt?" + query);
    s3.ok(200, TestS3.request("PUT", "/bkt/k?" + query).body("x"));
    assertEquals("x", s3.ok(200, "GET", "/bkt/k?" + query).text());
    assertEquals(List.of("k"), s3.ok(200, "GET", "/bkt?" + query).each("Contents", "Key"));
    s3.ok(204, "DELETE", "/bkt/k?" + query);
    s3.ok(204, "DELETE", "/bkt?" + query);
  }

  @Test
  void partsAndVersionsBelongToObjects() throws Exception {
    TestS3 s3 = new TestS3();
    s3.ok(200, "PUT", "/bkt");
    // Sent by clients that lost the key: the bucket is empty, so a plain DELETE would remove it.
    s3.refused("MethodNotAllowed", "DELETE", "/bkt/?uploadId=x");
    s3.refused("MethodNotAllowed", "DELETE", "/bkt/?versionId=x");
    s3.refused("MethodNotAllowed", "PUT", "/new/?partNumber=1&uploadId=x");
    s3.ok(200, "HEAD", "/bkt");
    s3.refused("NoSuchBucket", "HEAD", "/new");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.refused("MethodNotAllowed", "DELETE", "/bkt/k?partNumber=1");
    s3.refused("NotImplemented", "DELETE", "/bkt/k?versionid=x");
    s3.refused("InvalidArgument", "GET", "/bkt/k?tagging&versionId=x");
    s3.refused("InvalidArgument", "GET", "/bkt/k?acl&versionId=x");
    assertEquals("x", s3.ok(206, "GET", "/bkt/k?versionId=null&partNumber=1").text());
  }
}
