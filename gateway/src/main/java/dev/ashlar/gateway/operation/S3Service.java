package dev.ashlar.gateway.operation;

import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.Need;
import dev.ashlar.gateway.accesslog.AccessLog;
import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.auth.Authenticator;
import dev.ashlar.gateway.auth.Authenticator.AuthenticatedRequest;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.encryption.CustomerFields;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.operation.access.AclHandler;
import dev.ashlar.gateway.operation.access.BucketAccessHandler;
import dev.ashlar.gateway.operation.bucket.BucketCorsHandler;
import dev.ashlar.gateway.operation.bucket.BucketEncryptionHandler;
import dev.ashlar.gateway.operation.bucket.BucketInfoHandler;
import dev.ashlar.gateway.operation.bucket.BucketLifecycleHandler;
import dev.ashlar.gateway.operation.bucket.BucketLockHandler;
import dev.ashlar.gateway.operation.bucket.BucketNotificationHandler;
import dev.ashlar.gateway.operation.bucket.BucketTaggingHandler;
import dev.ashlar.gateway.operation.bucket.BucketVersioningHandler;
import dev.ashlar.gateway.operation.bucket.CreateBucketHandler;
import dev.ashlar.gateway.operation.bucket.DeleteBucketHandler;
import dev.ashlar.gateway.operation.bucket.ListBucketsHandler;
import dev.ashlar.gateway.operation.bucket.ListObjectVersionsHandler;
import dev.ashlar.gateway.operation.bucket.ListObjectsHandler;
import dev.ashlar.gateway.operation.bucket.RequestPaymentHandler;
import dev.ashlar.gateway.operation.change.AppendObjectHandler;
import dev.ashlar.gateway.operation.change.PatchObjectHandler;
import dev.ashlar.gateway.operation.log.BucketLoggingHandler;
import dev.ashlar.gateway.operation.log.LogDelivery;
import dev.ashlar.gateway.operation.log.LoggedRequest;
import dev.ashlar.gateway.operation.multipart.AbortMultipartUploadHandler;
import dev.ashlar.gateway.operation.multipart.CompleteMultipartUploadHandler;
import dev.ashlar.gateway.operation.multipart.CreateMultipartUploadHandler;
import dev.ashlar.gateway.operation.multipart.ListMultipartUploadsHandler;
import dev.ashlar.gateway.operation.multipart.ListPartsHandler;
import dev.ashlar.gateway.operation.multipart.UploadPartCopyHandler;
import dev.ashlar.gateway.operation.multipart.UploadPartHandler;
import dev.ashlar.gateway.operation.object.CopyObjectHandler;
import dev.ashlar.gateway.operation.object.DeleteObjectHandler;
import dev.ashlar.gateway.operation.object.DeleteObjectsHandler;
import dev.ashlar.gateway.operation.object.GetObjectAttributesHandler;
import dev.ashlar.gateway.operation.object.GetObjectHandler;
import dev.ashlar.gateway.operation.object.HeadObjectHandler;
import dev.ashlar.gateway.operation.object.ObjectEncryptionHandler;
import dev.ashlar.gateway.operation.object.ObjectLockHandler;
import dev.ashlar.gateway.operation.object.ObjectTaggingHandler;
import dev.ashlar.gateway.operation.object.PostObjectHandler;
import dev.ashlar.gateway.operation.object.PutObjectHandler;
import dev.ashlar.gateway.operation.object.RenameObjectHandler;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.DecidedChanges;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.LockRules;
import dev.ashlar.gateway.operation.shared.OperationNames;
import dev.ashlar.gateway.operation.website.BucketWebsiteHandler;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.s3.S3RequestParser;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.time.Clock;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Serves S3 requests: parses, authenticates, decides on access, and runs the operation. */
public final class S3Service implements RequestHandler {
  /** A longer one is none, but whatever a client has sent. */
  private static final int BUCKET_NAME_MAX = 63;

  private final Authenticator authenticator;
  private final S3RequestParser parser;
  private final RequestMetrics metrics;
  private final CrossOrigin crossOrigin;
  private final Backend backend;
  private final EventTargets events;
  private final AccessLog accessLog;

  public S3Service(
      Authenticator authenticator,
      MetadataClient metadata,
      ObjectStore store,
      S3Config config,
      Encryptions encryptions,
      EventTargets events,
      MeterRegistry registry,
      Clock clock,
      Random random) {
    this.authenticator = authenticator;
    this.parser = new S3RequestParser(config);
    this.metrics = new RequestMetrics(registry);
    this.crossOrigin = new CrossOrigin(metadata, config);
    AccessControl access = new AccessControl(metadata);
    this.backend =
        new Backend(
            metadata,
            store,
            access,
            new DecidedChanges(access),
            config,
            encryptions,
            clock,
            random);
    this.events = events;
    this.accessLog = new AccessLog(new LogDelivery(backend), registry);
  }

  /** The access logs of buckets. They are delivered only once it is started. */
  public AccessLog accessLog() {
    return accessLog;
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    if (exchange.method().equals("OPTIONS")) {
      return preflight(exchange);
    }
    return exchange.headers().contains(HttpHeaderNames.ORIGIN)
        ? crossOrigin.serve(exchange, this::serve)
        : serve(exchange);
  }

  private HttpAnswer preflight(HttpExchange exchange) throws S3Exception {
    long begin = System.nanoTime();
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      RequestAudit.describePreflight(audit, exchange);
    }
    describe(CurrentSpan.get(), RequestAudit.PREFLIGHT, null);
    int status = S3Error.INTERNAL_ERROR.status();
    try {
      HttpAnswer answer = crossOrigin.preflight(exchange);
      status = answer.status();
      if (audit != null) {
        audit.allowed();
      }
      return answer;
    } catch (S3Exception e) {
      status = e.error().status();
      throw e;
    } finally {
      metrics.record(RequestAudit.PREFLIGHT, status, System.nanoTime() - begin);
    }
  }

  private HttpAnswer serve(HttpExchange received) throws S3Exception, InterruptedException {
    long begin = System.nanoTime();
    HttpExchange exchange = withForm(received);
    S3Request request = parse(exchange);
    LoggedRequest logged = new LoggedRequest(request, exchange, begin);
    int status = S3Error.INTERNAL_ERROR.status();
    try {
      HttpAnswer answer = answer(request, exchange, logged);
      logged.answered(answer);
      status = answer.status();
      AuditEvent audit = exchange.audit();
      if (audit != null) {
        audit.version(answer.headers().get(VersionId.HEADER));
      }
      return answer;
    } catch (S3Exception e) {
      S3Exception told = backend.config().answers().told(e, request);
      status = told.error().status();
      logged.failed(told);
      throw told;
    } finally {
      logged.writeAtEnd(backend, accessLog);
      metrics.record(request.getClass().getSimpleName(), status, System.nanoTime() - begin);
    }
  }

  /** If a form is uploaded, that form, with the request around it. */
  private HttpExchange withForm(HttpExchange received) throws S3Exception, InterruptedException {
    try {
      String bucket = parser.bucketOfForm(received);
      return bucket == null ? received : PostForm.read(received, bucket);
    } catch (S3Exception malformed) {
      throw invalid(received, malformed);
    }
  }

  private S3Request parse(HttpExchange exchange) throws S3Exception {
    AuditEvent audit = exchange.audit();
    try {
      S3Request request = parser.parse(exchange);
      if (audit != null) {
        RequestAudit.describe(audit, request);
      }
      describe(CurrentSpan.get(), OperationNames.of(request), request.bucket());
      return request;
    } catch (S3Exception malformed) {
      throw invalid(exchange, malformed);
    }
  }

  /** What the sender of a request is told that cannot be parsed. */
  private S3Exception invalid(HttpExchange exchange, S3Exception malformed) {
    S3Exception failure = backend.config().answers().told(malformed);
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.operation("Invalid");
      audit.unparsed(exchange.method(), exchange.rawPath());
    }
    try {
      // Unauthenticated senders see only the authentication error, unless nothing is served here.
      if (failure.error().status() != S3Error.NOT_IMPLEMENTED.status()) {
        authenticate(exchange);
      }
    } catch (S3Exception refused) {
      failure = backend.config().answers().told(refused);
    }
    metrics.recordInvalid(failure.error().status());
    return failure;
  }

  /** Without the key: names of objects may tell of people. */
  private static void describe(@Nullable Span span, String name, @Nullable String bucket) {
    if (span == null || !span.isKept()) {
      return;
    }
    String operation = "S3/" + name;
    span.name(operation);
    span.add("rpc.method", operation);
    if (bucket != null && bucket.length() <= BUCKET_NAME_MAX) {
      span.add("aws.s3.bucket", bucket);
    }
  }

  private HttpAnswer answer(S3Request request, HttpExchange exchange, LoggedRequest logged)
      throws S3Exception, InterruptedException {
    AuthenticatedRequest sender = authenticate(exchange);
    logged.sentBy(sender.caller());
    try {
      String expectedOwner = exchange.headers().get(AmzHeaderNames.EXPECTED_BUCKET_OWNER);
      if (expectedOwner != null) {
        backend.access().requireExpectedOwner(request.bucket(), expectedOwner);
      }
      request.requireValid(sender.body().length());
      requireSecureKeys(exchange);
      Permit permit = backend.access().require(caller(sender, request), request.needs());
      AuditEvent audit = exchange.audit();
      if (audit != null && !(request.needs().resource() instanceof Need.Resource.KeysOf)) {
        audit.allowed();
      }
      if (request instanceof S3Request.VersionRequest write && write.given().asksForLock()) {
        LockRules.requirePossible(permit.bucket());
        LockRules.requireFuture(write.given().lock(), backend.clock());
      }
      Backend asked =
          permit.notifies() ? backend.askedBy(EventOrigins.of(exchange, permit.caller())) : backend;
      HttpAnswer answer = dispatch(asked, request, exchange, permit, sender.body(), logged);
      Answers.addCharge(answer.headers(), permit);
      // About single keys the operation decides. DeleteObjects tells about each of them itself.
      if (audit != null && !(request instanceof S3Request.DeleteObjects)) {
        audit.allowed();
      }
      return answer;
    } catch (UploadFacts.UnknownException e) {
      throw ErrorMapping.of(e.why());
    } catch (UnavailableException e) {
      throw ErrorMapping.of(e);
    }
  }

  /** Keys of clients are not to be sent over connections without TLS where there is TLS. */
  private void requireSecureKeys(HttpExchange exchange) throws S3Exception {
    if (backend.encryptions().customerKeysNeedTls()
        && !exchange.client().encrypted()
        && CustomerFields.haveKey(exchange.headers())) {
      throw S3Exception.invalidRequest(
          "Requests specifying Server Side Encryption with Customer provided keys must be made over"
              + " a secure connection.");
    }
  }

  private AuthenticatedRequest authenticate(HttpExchange exchange) throws S3Exception {
    AuthenticatedRequest sender =
        exchange instanceof PostForm form
            ? authenticator.authenticateForm(form)
            : authenticator.authenticate(exchange);
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      RequestAudit.sender(audit, sender.caller());
    }
    return sender;
  }

  /** The sender with what the request brings for conditions of policies. */
  private Caller caller(AuthenticatedRequest sender, S3Request request) {
    if (!(request instanceof S3Request.KeyRequest)) {
      return sender.caller();
    }
    Caller caller =
        sender.caller().seeing(facts -> new HeededFacts(facts, request, backend.metadata()));
    if (!(request instanceof S3Request.VersionRequest write)) {
      return caller;
    }
    return caller
        .bringing(write.given().tags().tags())
        .bringing(write.given().lock(), backend.clock().instant());
  }

  /** Who is told about each key that is deleted with others; null: nobody. */
  private @Nullable Consumer<AuditEvent.Part> parts(HttpExchange exchange, LoggedRequest logged) {
    AuditEvent audit = exchange.audit();
    if (!logged.isWanted(backend.access())) {
      return audit == null ? null : audit::part;
    }
    return part -> {
      logged.part(part);
      if (audit != null) {
        audit.part(part);
      }
    };
  }

  private HttpAnswer dispatch(
      Backend backend,
      S3Request request,
      HttpExchange exchange,
      Permit permit,
      PayloadBody body,
      LoggedRequest logged)
      throws S3Exception, UnavailableException, InterruptedException {
    Caller caller = permit.caller();
    return switch (request) {
      case S3Request.GetObject get -> new GetObjectHandler(backend).handle(get, exchange, permit);
      case S3Request.PutObject put -> new PutObjectHandler(backend).handle(put, permit, body);
      case S3Request.PostObject post ->
          new PostObjectHandler(backend).handle(post, permit, body, bucketUrl(exchange));
      case S3Request.AppendObject append ->
          new AppendObjectHandler(backend).handle(append, permit, body);
      case S3Request.PatchObject patch ->
          new PatchObjectHandler(backend).handle(patch, permit, body);
      case S3Request.HeadObject head -> new HeadObjectHandler(backend).handle(head, permit);
      case S3Request.DeleteObject delete -> new DeleteObjectHandler(backend).handle(delete, permit);
      case S3Request.DeleteObjects delete ->
          new DeleteObjectsHandler(backend).handle(delete, permit, body, parts(exchange, logged));
      case S3Request.CopyObject copy -> new CopyObjectHandler(backend).handle(copy, permit);
      case S3Request.RenameObject rename -> new RenameObjectHandler(backend).handle(rename, permit);
      case S3Request.GetObjectAttributes get ->
          new GetObjectAttributesHandler(backend).handle(get, permit);
      case S3Request.ListObjects list -> new ListObjectsHandler(backend, caller).handle(list);
      case S3Request.ListObjectsV2 list -> new ListObjectsHandler(backend, caller).handle(list);
      case S3Request.ListObjectVersions list ->
          new ListObjectVersionsHandler(backend).handle(list, permit);
      case S3Request.CreateMultipartUpload create ->
          new CreateMultipartUploadHandler(backend).handle(create, permit);
      case S3Request.UploadPart part -> new UploadPartHandler(backend).handle(part, body);
      case S3Request.UploadPartCopy part -> new UploadPartCopyHandler(backend).handle(part, caller);
      case S3Request.CompleteMultipartUpload complete ->
          new CompleteMultipartUploadHandler(backend)
              .handle(complete, permit, endpoint(exchange), body);
      case S3Request.AbortMultipartUpload abort ->
          new AbortMultipartUploadHandler(backend).handle(abort);
      case S3Request.ListParts list -> new ListPartsHandler(backend).handle(list, permit);
      case S3Request.ListMultipartUploads list ->
          new ListMultipartUploadsHandler(backend).handle(list, caller);
      case S3Request.ListBuckets list -> new ListBucketsHandler(backend).handle(list, caller);
      case S3Request.CreateBucket create ->
          new CreateBucketHandler(backend).handle(create, permit, body);
      case S3Request.DeleteBucket delete -> new DeleteBucketHandler(backend).handle(delete);
      case S3Request.HeadBucket head -> new BucketInfoHandler(backend).handle(head, permit);
      case S3Request.GetBucketLocation get -> new BucketInfoHandler(backend).handle(get, permit);
      case S3Request.GetBucketVersioning get ->
          new BucketVersioningHandler(backend).handle(get, permit);
      case S3Request.PutBucketVersioning put ->
          new BucketVersioningHandler(backend).handle(put, body);
      case S3Request.GetAcl get -> new AclHandler(backend).handle(get, permit);
      case S3Request.PutAcl put -> new AclHandler(backend).handle(put, permit, body);
      case S3Request.BucketAccessRequest about ->
          new BucketAccessHandler(backend).handle(about, permit, body);
      case S3Request.GetBucketRequestPayment get -> RequestPaymentHandler.handle(get, permit);
      case S3Request.PutBucketRequestPayment put ->
          new RequestPaymentHandler(backend).handle(put, body);
      case S3Request.GetBucketLogging get -> new BucketLoggingHandler(backend).handle(get, permit);
      case S3Request.PutBucketLogging put ->
          new BucketLoggingHandler(backend).handle(put, permit, body);
      case S3Request.GetBucketNotificationConfiguration get ->
          new BucketNotificationHandler(backend, events).handle(get);
      case S3Request.PutBucketNotificationConfiguration put ->
          new BucketNotificationHandler(backend, events).handle(put, exchange, body);
      case S3Request.GetBucketWebsite get -> new BucketWebsiteHandler(backend).handle(get);
      case S3Request.PutBucketWebsite put -> new BucketWebsiteHandler(backend).handle(put, body);
      case S3Request.DeleteBucketWebsite delete -> new BucketWebsiteHandler(backend).handle(delete);
      case S3Request.GetBucketTagging get -> new BucketTaggingHandler(backend).handle(get);
      case S3Request.PutBucketTagging put -> new BucketTaggingHandler(backend).handle(put, body);
      case S3Request.DeleteBucketTagging delete -> new BucketTaggingHandler(backend).handle(delete);
      case S3Request.GetBucketEncryption get ->
          new BucketEncryptionHandler(backend).handle(get, permit);
      case S3Request.PutBucketEncryption put ->
          new BucketEncryptionHandler(backend).handle(put, body);
      case S3Request.DeleteBucketEncryption delete ->
          new BucketEncryptionHandler(backend).handle(delete);
      case S3Request.UpdateObjectEncryption update ->
          new ObjectEncryptionHandler(backend).handle(update, permit, body);
      case S3Request.GetBucketCors get -> new BucketCorsHandler(backend).handle(get);
      case S3Request.PutBucketCors put -> new BucketCorsHandler(backend).handle(put, body);
      case S3Request.DeleteBucketCors delete -> new BucketCorsHandler(backend).handle(delete);
      case S3Request.GetBucketLifecycleConfiguration get ->
          new BucketLifecycleHandler(backend).handle(get, permit);
      case S3Request.PutBucketLifecycleConfiguration put ->
          new BucketLifecycleHandler(backend).handle(put, body);
      case S3Request.DeleteBucketLifecycle delete ->
          new BucketLifecycleHandler(backend).handle(delete);
      case S3Request.GetObjectTagging get -> ObjectTaggingHandler.handle(get, permit);
      case S3Request.PutObjectTagging put ->
          new ObjectTaggingHandler(backend).handle(put, caller, body);
      case S3Request.DeleteObjectTagging delete ->
          new ObjectTaggingHandler(backend).handle(delete, permit);
      case S3Request.GetObjectLockConfiguration get -> BucketLockHandler.handle(get, permit);
      case S3Request.PutObjectLockConfiguration put ->
          new BucketLockHandler(backend).handle(put, body);
      case S3Request.GetObjectRetention get -> ObjectLockHandler.handle(get, permit);
      case S3Request.PutObjectRetention put ->
          new ObjectLockHandler(backend).handle(put, caller, body);
      case S3Request.GetObjectLegalHold get -> ObjectLockHandler.handle(get, permit);
      case S3Request.PutObjectLegalHold put ->
          new ObjectLockHandler(backend).handle(put, caller, body);
      case S3Request.GetUnconfigured get -> new BucketInfoHandler(backend).handle(get);
    };
  }

  /** As the client named the bucket to which it posts. */
  private static String bucketUrl(HttpExchange exchange) {
    String path = exchange.rawPath();
    return endpoint(exchange) + (path.endsWith("/") ? path.substring(0, path.length() - 1) : path);
  }

  /** As the client named it. */
  private static String endpoint(HttpExchange exchange) {
    String scheme = exchange.client().encrypted() ? "https://" : "http://";
    return scheme + exchange.headers().get(HttpHeaderNames.HOST, "");
  }
}
