package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3RequestParser;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.protocol.client.MetadataClient;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Every request type, tried with and without the right to it. */
class AccessTest {
  private static final String KEYS = "<Delete><Object><Key>k</Key></Object></Delete>";

  private static final String TAGS =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
  private static final String POLICY =
      """
      {"Statement": [{"Effect": "Allow", "Principal": {"AWS": "999999999999"}, \
      "Action": "s3:GetObject", "Resource": "arn:aws:s3:::conf/*"}, \
      {"Effect": "Allow", "Principal": {"Service": "logging.s3.amazonaws.com"}, \
      "Action": "s3:PutObject", "Resource": "arn:aws:s3:::conf/log/*"}]}""";
  private static final String BLOCK =
      "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>"
          + "</PublicAccessBlockConfiguration>";
  private static final String LIFECYCLE =
      "<LifecycleConfiguration><Rule><ID>r</ID><Filter/><Status>Enabled</Status>"
          + "<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>";

  private static final String OWNERSHIP =
      "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule>"
          + "</OwnershipControls>";

  private static final String CORS =
      "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod>"
          + "<AllowedOrigin>http://a.test</AllowedOrigin></CORSRule></CORSConfiguration>";
  private static final String WEBSITE =
      "<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument>"
          + "</WebsiteConfiguration>";
  private static final String ENCRYPTION =
      "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
          + "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>"
          + "</ServerSideEncryptionConfiguration>";
  private static final String NOTIFICATION =
      "<NotificationConfiguration><QueueConfiguration><Queue>arn:ashlar:sqs::t:fake</Queue>"
          + "<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>";
  private static final String LOGGING =
      "<BucketLoggingStatus><LoggingEnabled><TargetBucket>conf</TargetBucket>"
          + "<TargetPrefix>log/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>";

  /** A request that its owner may send. */
  private enum Attempt {
    LIST_BUCKETS(S3Request.ListBuckets.class, "GET /", "s3:ListAllMyBuckets", "buckets"),
    CREATE_BUCKET(
        S3Request.CreateBucket.class, "PUT /bkt", "s3:CreateBucket", "submit documents bucket"),
    HEAD_BUCKET(S3Request.HeadBucket.class, "HEAD /bkt", "s3:ListBucket", "bucket"),
    DELETE_BUCKET(
        S3Request.DeleteBucket.class, "DELETE /empty", "s3:DeleteBucket", "bucket submit"),
    GET_BUCKET_LOCATION(
        S3Request.GetBucketLocation.class, "GET /bkt?location", "s3:GetBucketLocation", "bucket"),
    GET_BUCKET_ACL(S3Request.GetAcl.class, "GET /bkt?acl", "s3:GetBucketAcl", "bucket"),
    GET_OBJECT_ACL(S3Request.GetAcl.class, "GET /bkt/k?acl", "s3:GetObjectAcl", "object"),
    PUT_BUCKET_ACL(S3Request.PutAcl.class, "PUT /bkt?acl", "s3:PutBucketAcl", "bucket submit"),
    PUT_OBJECT_ACL(S3Request.PutAcl.class, "PUT /bkt/k?acl", "s3:PutObjectAcl", "object submit"),
    GET_BUCKET_POLICY(
        S3Request.GetBucketPolicy.class, "GET /conf?policy", "s3:GetBucketPolicy", "bucket"),
    PUT_BUCKET_POLICY(
        S3Request.PutBucketPolicy.class, "PUT /conf?policy", "s3:PutBucketPolicy", "bucket submit"),
    DELETE_BUCKET_POLICY(
        S3Request.DeleteBucketPolicy.class,
        "DELETE /conf?policy",
        "s3:DeleteBucketPolicy",
        "bucket submit"),
    GET_BUCKET_POLICY_STATUS(
        S3Request.GetBucketPolicyStatus.class,
        "GET /conf?policyStatus",
        "s3:GetBucketPolicyStatus",
        "bucket"),
    GET_PUBLIC_ACCESS_BLOCK(
        S3Request.GetPublicAccessBlock.class,
        "GET /conf?publicAccessBlock",
        "s3:GetBucketPublicAccessBlock",
        "bucket"),
    PUT_PUBLIC_ACCESS_BLOCK(
        S3Request.PutPublicAccessBlock.class,
        "PUT /conf?publicAccessBlock",
        "s3:PutBucketPublicAccessBlock",
        "bucket submit"),
    DELETE_PUBLIC_ACCESS_BLOCK(
        S3Request.DeletePublicAccessBlock.class,
        "DELETE /conf?publicAccessBlock",
        "s3:PutBucketPublicAccessBlock",
        "bucket submit"),
    GET_OWNERSHIP_CONTROLS(
        S3Request.GetBucketOwnershipControls.class,
        "GET /conf?ownershipControls",
        "s3:GetBucketOwnershipControls",
        "bucket"),
    PUT_OWNERSHIP_CONTROLS(
        S3Request.PutBucketOwnershipControls.class,
        "PUT /conf?ownershipControls",
        "s3:PutBucketOwnershipControls",
        "bucket submit"),
    DELETE_OWNERSHIP_CONTROLS(
        S3Request.DeleteBucketOwnershipControls.class,
        "DELETE /conf?ownershipControls",
        "s3:PutBucketOwnershipControls",
        "bucket submit"),
    GET_BUCKET_VERSIONING(
        S3Request.GetBucketVersioning.class,
        "GET /bkt?versioning",
        "s3:GetBucketVersioning",
        "bucket"),
    PUT_BUCKET_VERSIONING(
        S3Request.PutBucketVersioning.class,
        "PUT /bkt?versioning",
        "s3:PutBucketVersioning",
        "bucket submit"),
    GET_BUCKET_LOGGING(
        S3Request.GetBucketLogging.class, "GET /bkt?logging", "s3:GetBucketLogging", "bucket"),
    PUT_BUCKET_LOGGING(
        S3Request.PutBucketLogging.class,
        "PUT /bkt?logging",
        "s3:PutBucketLogging",
        "bucket account bucket submit"),
    GET_NOTIFICATION(
        S3Request.GetBucketNotificationConfiguration.class,
        "GET /bkt?notification",
        "s3:GetBucketNotification",
        "bucket documents"),
    PUT_NOTIFICATION(
        S3Request.PutBucketNotificationConfiguration.class,
        "PUT /bkt?notification",
        "s3:PutBucketNotification",
        "bucket submit"),
    GET_BUCKET_REQUEST_PAYMENT(
        S3Request.GetBucketRequestPayment.class,
        "GET /bkt?requestPayment",
        "s3:GetBucketRequestPayment",
        "bucket"),
    PUT_BUCKET_REQUEST_PAYMENT(
        S3Request.PutBucketRequestPayment.class,
        "PUT /bkt?requestPayment",
        "s3:PutBucketRequestPayment",
        "bucket submit"),
    GET_BUCKET_WEBSITE(
        S3Request.GetBucketWebsite.class,
        "GET /empty?website",
        "s3:GetBucketWebsite",
        "bucket documents"),
    PUT_BUCKET_WEBSITE(
        S3Request.PutBucketWebsite.class,
        "PUT /bkt?website",
        "s3:PutBucketWebsite",
        "bucket submit"),
    DELETE_BUCKET_WEBSITE(
        S3Request.DeleteBucketWebsite.class,
        "DELETE /empty?website",
        "s3:DeleteBucketWebsite",
        "bucket submit"),
    GET_BUCKET_TAGGING(
        S3Request.GetBucketTagging.class,
        "GET /empty?tagging",
        "s3:GetBucketTagging",
        "bucket documents"),
    PUT_BUCKET_TAGGING(
        S3Request.PutBucketTagging.class,
        "PUT /bkt?tagging",
        "s3:PutBucketTagging",
        "bucket submit"),
    DELETE_BUCKET_TAGGING(
        S3Request.DeleteBucketTagging.class,
        "DELETE /empty?tagging",
        "s3:PutBucketTagging",
        "bucket submit"),
    GET_BUCKET_CORS(
        S3Request.GetBucketCors.class, "GET /conf?cors", "s3:GetBucketCORS", "bucket documents"),
    PUT_BUCKET_CORS(
        S3Request.PutBucketCors.class, "PUT /conf?cors", "s3:PutBucketCORS", "bucket submit"),
    DELETE_BUCKET_CORS(
        S3Request.DeleteBucketCors.class, "DELETE /conf?cors", "s3:PutBucketCORS", "bucket submit"),
    GET_BUCKET_ENCRYPTION(
        S3Request.GetBucketEncryption.class,
        "GET /conf?encryption",
        "s3:GetEncryptionConfiguration",
        "bucket"),
    PUT_BUCKET_ENCRYPTION(
        S3Request.PutBucketEncryption.class,
        "PUT /conf?encryption",
        "s3:PutEncryptionConfiguration",
        "bucket submit"),
    DELETE_BUCKET_ENCRYPTION(
        S3Request.DeleteBucketEncryption.class,
        "DELETE /conf?encryption",
        "s3:PutEncryptionConfiguration",
        "bucket submit"),
    UPDATE_OBJECT_ENCRYPTION(
        S3Request.UpdateObjectEncryption.class,
        "PUT /bkt/sealed?encryption",
        "s3:UpdateObjectEncryption",
        "object submit"),
    GET_LIFECYCLE(
        S3Request.GetBucketLifecycleConfiguration.class,
        "GET /conf?lifecycle",
        "s3:GetLifecycleConfiguration",
        "bucket"),
    PUT_LIFECYCLE(
        S3Request.PutBucketLifecycleConfiguration.class,
        "PUT /conf?lifecycle",
        "s3:PutLifecycleConfiguration",
        "bucket submit"),
    DELETE_LIFECYCLE(
        S3Request.DeleteBucketLifecycle.class,
        "DELETE /conf?lifecycle",
        "s3:PutLifecycleConfiguration",
        "bucket submit"),
    GET_OBJECT_TAGGING(
        S3Request.GetObjectTagging.class, "GET /bkt/k?tagging", "s3:GetObjectTagging", "object"),
    PUT_OBJECT_TAGGING(
        S3Request.PutObjectTagging.class,
        "PUT /bkt/k?tagging",
        "s3:PutObjectTagging",
        "bucket object submit"),
    DELETE_OBJECT_TAGGING(
        S3Request.DeleteObjectTagging.class,
        "DELETE /bkt/k?tagging",
        "s3:DeleteObjectTagging",
        "object submit"),
    LIST_OBJECTS(S3Request.ListObjects.class, "GET /bkt", "s3:ListBucket", "bucket list"),
    LIST_OBJECTS_V2(
        S3Request.ListObjectsV2.class, "GET /bkt?list-type=2", "s3:ListBucket", "bucket list"),
    LIST_OBJECT_VERSIONS(
        S3Request.ListObjectVersions.class,
        "GET /bkt?versions",
        "s3:ListBucketVersions",
        "bucket versions"),
    LIST_MULTIPART_UPLOADS(
        S3Request.ListMultipartUploads.class,
        "GET /bkt?uploads",
        "s3:ListBucketMultipartUploads",
        "bucket uploads"),
    DELETE_OBJECTS(
        S3Request.DeleteObjects.class, "POST /bkt?delete", "s3:DeleteObject", "bucket submit"),
    PUT_OBJECT(S3Request.PutObject.class, "PUT /bkt/k", "s3:PutObject", "bucket"),
    POST_OBJECT(S3Request.PostObject.class, "POST /bkt", "s3:PutObject", "bucket"),
    APPEND_OBJECT(
        S3Request.AppendObject.class,
        "PUT /bkt/k?append&position=4",
        "s3:PutObject",
        "bucket object"),
    PATCH_OBJECT(
        S3Request.PatchObject.class, "PATCH /bkt/k", "s3:GetObject s3:PutObject", "object"),
    COPY_OBJECT(
        S3Request.CopyObject.class, "PUT /bkt/copy", "s3:PutObject", "bucket object submit"),
    GET_OBJECT_LOCK_CONFIGURATION(
        S3Request.GetObjectLockConfiguration.class,
        "GET /locked?object-lock",
        "s3:GetBucketObjectLockConfiguration",
        "bucket"),
    PUT_OBJECT_LOCK_CONFIGURATION(
        S3Request.PutObjectLockConfiguration.class,
        "PUT /locked?object-lock",
        "s3:PutBucketObjectLockConfiguration",
        "bucket submit"),
    GET_OBJECT_RETENTION(
        S3Request.GetObjectRetention.class,
        "GET /locked/k?retention",
        "s3:GetObjectRetention",
        "object"),
    PUT_OBJECT_RETENTION(
        S3Request.PutObjectRetention.class,
        "PUT /locked/k?retention",
        "s3:PutObjectRetention",
        "bucket object submit"),
    GET_OBJECT_LEGAL_HOLD(
        S3Request.GetObjectLegalHold.class,
        "GET /locked/k?legal-hold",
        "s3:GetObjectLegalHold",
        "object"),
    PUT_OBJECT_LEGAL_HOLD(
        S3Request.PutObjectLegalHold.class,
        "PUT /locked/k?legal-hold",
        "s3:PutObjectLegalHold",
        "bucket object submit"),
    RENAME_OBJECT(
        S3Request.RenameObject.class,
        "PUT /bkt/renamed?renameObject",
        "s3:PutObject",
        "bucket object submit"),
    GET_OBJECT(S3Request.GetObject.class, "GET /bkt/k", "s3:GetObject", "object"),
    GET_VERSION(
        S3Request.GetObject.class, "GET /bkt/k?versionId=null", "s3:GetObjectVersion", "object"),
    HEAD_OBJECT(S3Request.HeadObject.class, "HEAD /bkt/k", "s3:GetObject", "object"),
    HEAD_VERSION(
        S3Request.HeadObject.class, "HEAD /bkt/k?versionId=null", "s3:GetObjectVersion", "object"),
    GET_VERSION_ATTRIBUTES(
        S3Request.GetObjectAttributes.class,
        "GET /bkt/k?attributes&versionId=null",
        "s3:GetObjectVersion s3:GetObjectVersionAttributes",
        "object"),
    GET_VERSION_ACL(
        S3Request.GetAcl.class,
        "GET /bkt/k?acl&versionId=null",
        "s3:GetObjectVersionAcl",
        "object"),
    GET_VERSION_TAGGING(
        S3Request.GetObjectTagging.class,
        "GET /bkt/k?tagging&versionId=null",
        "s3:GetObjectVersionTagging",
        "object"),
    PUT_VERSION_TAGGING(
        S3Request.PutObjectTagging.class,
        "PUT /bkt/k?tagging&versionId=null",
        "s3:PutObjectVersionTagging",
        "bucket object submit"),
    DELETE_VERSION_TAGGING(
        S3Request.DeleteObjectTagging.class,
        "DELETE /bkt/k?tagging&versionId=null",
        "s3:DeleteObjectVersionTagging",
        "object submit"),
    GET_UNCONFIGURED(
        S3Request.GetUnconfigured.class,
        "GET /bkt?accelerate",
        "s3:GetAccelerateConfiguration",
        "bucket"),
    DELETE_VERSION(
        S3Request.DeleteObject.class,
        "DELETE /bkt/k?versionId=null",
        "s3:DeleteObjectVersion",
        "bucket submit"),
    GET_OBJECT_ATTRIBUTES(
        S3Request.GetObjectAttributes.class,
        "GET /bkt/k?attributes",
        "s3:GetObject s3:GetObjectAttributes",
        "object"),
    DELETE_OBJECT(
        S3Request.DeleteObject.class, "DELETE /bkt/k", "s3:DeleteObject", "bucket submit"),
    CREATE_MULTIPART_UPLOAD(
        S3Request.CreateMultipartUpload.class,
        "POST /bkt/k?uploads",
        "s3:PutObject",
        "bucket submit"),
    UPLOAD_PART(
        S3Request.UploadPart.class,
        "PUT /bkt/m?partNumber=1&uploadId=ID",
        "s3:PutObject",
        "bucket upload"),
    UPLOAD_PART_COPY(
        S3Request.UploadPartCopy.class,
        "PUT /bkt/m?partNumber=1&uploadId=ID",
        "s3:PutObject",
        "bucket upload object submit"),
    COMPLETE_MULTIPART_UPLOAD(
        S3Request.CompleteMultipartUpload.class,
        "POST /bkt/m?uploadId=ID",
        "s3:PutObject",
        "bucket upload parts submit"),
    ABORT_MULTIPART_UPLOAD(
        S3Request.AbortMultipartUpload.class,
        "DELETE /bkt/m?uploadId=ID",
        "s3:AbortMultipartUpload",
        "bucket submit"),
    LIST_PARTS(
        S3Request.ListParts.class,
        "GET /bkt/m?uploadId=ID",
        "s3:ListMultipartUploadParts",
        "bucket upload parts");

    private final Class<? extends S3Request> type;
    private final String line;
    private final String actions;
    private final String metadataCalls;

    Attempt(Class<? extends S3Request> type, String line, String actions, String metadataCalls) {
      this.type = type;
      this.line = line;
      this.actions = actions;
      this.metadataCalls = metadataCalls;
    }
  }

  private final List<String> calls = new ArrayList<>();
  private final TestS3 s3 =
      new TestS3("us-east-1", this::counted, List.of(new MemoryTarget("arn:ashlar:sqs::t:fake")));
  private String uploadId = "";
  private String partEtag = "";

  /** The placement map is in the memory of every process. */
  private MetadataClient counted(MetadataClient metadata) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              if (!method.getName().equals("placement")) {
                calls.add(method.getName());
              }
              try {
                return method.invoke(metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, "PUT", "/empty");
    s3.ok(204, TestS3.request("PUT", "/empty?tagging").body(TAGS));
    s3.ok(200, TestS3.request("PUT", "/empty?website").body(WEBSITE));
    s3.ok(200, TestS3.request("PUT", "/locked").header("x-amz-bucket-object-lock-enabled", "true"));
    s3.ok(
        200,
        TestS3.request("PUT", "/locked/k")
            .header("x-amz-object-lock-mode", "GOVERNANCE")
            .header("x-amz-object-lock-retain-until-date", "2099-01-01T00:00:00Z")
            .header("x-amz-object-lock-legal-hold", "ON")
            .header("Content-MD5", "not looked at here")
            .body("data"));
    s3.ok(200, "PUT", "/conf");
    s3.ok(204, TestS3.request("PUT", "/conf?policy").body(POLICY));
    s3.ok(200, TestS3.request("PUT", "/conf?publicAccessBlock").body(BLOCK));
    s3.ok(200, TestS3.request("PUT", "/conf?ownershipControls").body(OWNERSHIP));
    s3.ok(200, request(Attempt.PUT_BUCKET_CORS).body(CORS));
    s3.ok(
        200,
        TestS3.request("PUT", "/conf?lifecycle")
            .body(LIFECYCLE)
            .header("Content-MD5", "not looked at here"));
    s3.ok(200, TestS3.request("PUT", "/conf?encryption").body(ENCRYPTION));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data"));
    TestKeys.putSealed(s3, "bkt", "sealed");
    uploadId = s3.ok(200, "POST", "/bkt/m?uploads").element("UploadId");
    partEtag =
        s3.ok(200, TestS3.request("PUT", "/bkt/m?partNumber=1&uploadId=" + uploadId).body("part"))
            .header("ETag");
  }

  private TestRequest request(Attempt attempt) {
    return request(attempt, "/bkt/k");
  }

  private TestRequest request(Attempt attempt, String copySource) {
    String[] line = attempt.line.replace("ID", uploadId).split(" ", -1);
    TestRequest request = TestS3.request(line[0], line[1]);
    return switch (attempt) {
      case PUT_BUCKET_ACL, PUT_OBJECT_ACL -> request.header("x-amz-acl", "private");
      case PUT_BUCKET_POLICY -> request.body(POLICY);
      case PUT_PUBLIC_ACCESS_BLOCK -> request.body(BLOCK);
      case PUT_OWNERSHIP_CONTROLS -> request.body(OWNERSHIP);
      case PUT_LIFECYCLE -> request.body(LIFECYCLE).header("Content-MD5", "not looked at here");
      case PUT_BUCKET_ENCRYPTION -> request.body(ENCRYPTION);
      case UPDATE_OBJECT_ENCRYPTION ->
          request.body(
              "<ObjectEncryption><SSE-KMS><KMSKeyArn>kms-2</KMSKeyArn></SSE-KMS>"
                  + "</ObjectEncryption>");
      case PUT_BUCKET_WEBSITE -> request.body(WEBSITE);
      case PUT_BUCKET_LOGGING -> request.body(LOGGING);
      case PUT_NOTIFICATION -> request.body(NOTIFICATION);
      case PUT_BUCKET_REQUEST_PAYMENT ->
          request.body(
              "<RequestPaymentConfiguration><Payer>Requester</Payer>"
                  + "</RequestPaymentConfiguration>");
      case DELETE_OBJECTS -> request.body(KEYS).header("Content-MD5", "not looked at here");
      case PUT_BUCKET_CORS ->
          request.body(CORS.replace("a.test", "b.test")).header("Content-MD5", "not looked at");
      case PUT_BUCKET_TAGGING, PUT_OBJECT_TAGGING, PUT_VERSION_TAGGING -> request.body(TAGS);
      case PUT_OBJECT, APPEND_OBJECT, UPLOAD_PART -> request.body("more");
      case PUT_BUCKET_VERSIONING ->
          request.body(
              "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>");
      case POST_OBJECT -> request.form(new FormBody().field("key", "k").file("a.txt", "more"));
      case PATCH_OBJECT -> request.body("MORE").header("Content-Range", "bytes 0-3/*");
      case COPY_OBJECT, UPLOAD_PART_COPY -> request.header("x-amz-copy-source", copySource);
      case PUT_OBJECT_LOCK_CONFIGURATION ->
          request.body(
              "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>"
                  + "<Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days>"
                  + "</DefaultRetention></Rule></ObjectLockConfiguration>");
      case PUT_OBJECT_RETENTION ->
          request.body(
              "<Retention><Mode>GOVERNANCE</Mode>"
                  + "<RetainUntilDate>2099-02-01T00:00:00Z</RetainUntilDate></Retention>");
      case PUT_OBJECT_LEGAL_HOLD -> request.body("<LegalHold><Status>OFF</Status></LegalHold>");
      case RENAME_OBJECT -> request.header("x-amz-rename-source", "/k");
      case GET_OBJECT_ATTRIBUTES, GET_VERSION_ATTRIBUTES ->
          request.header("x-amz-object-attributes", "ObjectSize");
      case COMPLETE_MULTIPART_UPLOAD -> request.body(parts());
      default -> request;
    };
  }

  private String parts() {
    return "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
        + partEtag
        + "</ETag></Part></CompleteMultipartUpload>";
  }

  /** All that the owner can see. */
  private String everything() throws Exception {
    return Stream.of(
            "/",
            "/bkt",
            "/bkt?versions",
            "/bkt?versioning",
            "/empty?tagging",
            "/locked?object-lock",
            "/locked/k?retention",
            "/locked/k?legal-hold",
            "/bkt/k",
            "/bkt/k?acl",
            "/bkt/k?tagging",
            "/bkt?acl",
            "/conf?policy",
            "/conf?publicAccessBlock",
            "/conf?ownershipControls",
            "/conf?cors",
            "/conf?encryption",
            "/conf?lifecycle",
            "/empty?website",
            "/bkt?logging",
            "/bkt?notification",
            "/bkt?requestPayment",
            "/bkt?uploads",
            "/bkt/m?uploadId=ID")
        .map(uri -> textAt(uri.replace("ID", uploadId)))
        .collect(Collectors.joining("\n"));
  }

  private String textAt(String uri) {
    try {
      return s3.ok(200, "GET", uri).text();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyRequestTypeIsTried() {
    Set<Class<?>> tried =
        Stream.of(Attempt.values()).map(it -> it.type).collect(Collectors.toSet());
    assertEquals(requestTypes(S3Request.class).collect(Collectors.toSet()), tried);
  }

  private static Stream<Class<?>> requestTypes(Class<?> type) {
    return type.isRecord()
        ? Stream.of(type)
        : Stream.of(type.getPermittedSubclasses()).flatMap(AccessTest::requestTypes);
  }

  @ParameterizedTest
  @EnumSource
  void requestsStateWhatTheyNeed(Attempt attempt) throws Exception {
    S3RequestParser parser =
        new S3RequestParser(new S3Config("us-east-1", new VirtualHosts(List.of()), "Owner"));
    TestRequest sent = request(attempt);
    String bucket = parser.bucketOfForm(sent);
    S3Request request = parser.parse(bucket == null ? sent : PostForm.read(sent, bucket));
    assertEquals(attempt.type, request.getClass());
    assertEquals(attempt.actions, String.join(" ", request.needs().actions()));
  }

  @ParameterizedTest
  @EnumSource
  void ownersAreServedWithoutAnExtraMetadataRead(Attempt attempt) throws Exception {
    calls.clear();
    TestAnswer answer = s3.send(request(attempt));
    assertTrue(answer.status() < 300, () -> answer.code() + answer.text());
    assertEquals(attempt.metadataCalls, String.join(" ", calls));
  }

  @ParameterizedTest
  @EnumSource
  void othersAreRefusedAndChangeNothing(Attempt attempt) throws Exception {
    String before = everything();
    TestAnswer answer = s3.send(request(attempt).header("x-test-owner", "other"));
    switch (attempt) {
      case LIST_BUCKETS -> assertTrue(!answer.text().contains("<Bucket>"), answer.text());
      case CREATE_BUCKET -> assertEquals("BucketAlreadyExists", answer.code());
      // Each key is decided and answered by itself.
      case DELETE_OBJECTS -> assertEquals(List.of("AccessDenied"), answer.each("Error", "Code"));
      default -> assertEquals("AccessDenied", answer.code());
    }
    assertEquals(before, everything());
  }

  @ParameterizedTest
  @EnumSource
  void anonymousSendersAreRefusedAndChangeNothing(Attempt attempt) throws Exception {
    String before = everything();
    TestAnswer answer = s3.send(request(attempt).header("x-test-owner", "anonymous"));
    if (attempt == Attempt.DELETE_OBJECTS) {
      assertEquals(List.of("AccessDenied"), answer.each("Error", "Code"));
    } else {
      assertEquals("AccessDenied", answer.code());
    }
    assertEquals(before, everything());
  }

  @ParameterizedTest
  @EnumSource
  void unauthenticatedSendersAreRefusedAndChangeNothing(Attempt attempt) throws Exception {
    String before = everything();
    calls.clear();
    s3.refused("SignatureDoesNotMatch", request(attempt).header("x-test-owner", "nobody"));
    assertEquals(List.of(), calls);
    assertEquals(before, everything());
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"LIST_BUCKETS", "CREATE_BUCKET"})
  void missingBucketsAreMissingForEverybody(Attempt attempt) throws Exception {
    for (String owner : new String[] {"owner", "other"}) {
      TestRequest there = request(attempt);
      String query = there.rawQuery().isEmpty() ? "" : "?" + there.rawQuery();
      String path = there.rawPath().replaceFirst("/(bkt|empty|locked|conf)", "/missing");
      s3.refused("NoSuchBucket", there.to(path + query).header("x-test-owner", owner));
    }
  }

  static Stream<Attempt> copies() {
    return Stream.of(Attempt.COPY_OBJECT, Attempt.UPLOAD_PART_COPY);
  }

  @ParameterizedTest
  @MethodSource("copies")
  void sourcesOfCopiesNeedARightOfTheirOwn(Attempt attempt) throws Exception {
    s3.ok(200, TestS3.request("PUT", "/foreign").header("x-test-owner", "other"));
    s3.ok(200, TestS3.request("PUT", "/foreign/k").header("x-test-owner", "other").body("secret"));
    String before = everything();
    s3.refused("AccessDenied", request(attempt, "/foreign/k"));
    s3.refused("AccessDenied", request(attempt, "/foreign/none"));
    s3.refused("NoSuchBucket", request(attempt, "/missing/k"));
    s3.refused("NoSuchKey", request(attempt, "/bkt/none"));
    assertEquals(before, everything());
  }

  @Test
  void expectedOwnersAreComparedBeforeAnythingElse() throws Exception {
    for (Attempt attempt : Attempt.values()) {
      TestRequest request = request(attempt).header("x-amz-expected-bucket-owner", "somebody else");
      if (attempt != Attempt.LIST_BUCKETS) {
        s3.refused("AccessDenied", request);
      }
    }
  }
}
