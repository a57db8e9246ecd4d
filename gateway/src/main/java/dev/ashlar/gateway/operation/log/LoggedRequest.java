package dev.ashlar.gateway.operation.log;

import dev.ashlar.gateway.access.AccessControl;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.BucketLogging;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.accesslog.AccessLog;
import dev.ashlar.gateway.accesslog.LogLine;
import dev.ashlar.gateway.accesslog.LogStream;
import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.TlsParameters;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.VersionRef;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the access log of a bucket tells about a request, in the format of S3. For the request's
 * thread. The fields and their order are an interface: docs/reference/access-log.md.
 */
public final class LoggedRequest {
  /** What proves the right to send a request, which readers of logs must not get. */
  private static final Pattern SECRETS =
      Pattern.compile(
          "(?<=^|[?&])((?:X-Amz-Signature|X-Amz-Security-Token|Signature)=)[^&]*",
          Pattern.CASE_INSENSITIVE);

  private final S3Request request;
  private final HttpExchange exchange;
  private final long beginNanos;
  private @Nullable Caller caller;
  private @Nullable HttpAnswer answer;
  private @Nullable String error;
  private long turnNanos = -1;
  private final List<AuditEvent.Part> parts = new ArrayList<>(0);

  /**
   * @param beginNanos of System.nanoTime
   */
  public LoggedRequest(S3Request request, HttpExchange exchange, long beginNanos) {
    this.request = request;
    this.exchange = exchange;
    this.beginNanos = beginNanos;
  }

  /** Its signature is valid, or it has none. */
  public void sentBy(Caller sender) {
    caller = sender;
  }

  public void answered(HttpAnswer with) {
    answer = with;
    turnNanos = System.nanoTime() - beginNanos;
  }

  public void failed(S3Exception e) {
    error = e.error().code();
    turnNanos = System.nanoTime() - beginNanos;
  }

  /** What it did to one of several keys; a line of its own. */
  public void part(AuditEvent.Part part) {
    parts.add(part);
  }

  /** Whether its bucket has a log, as far as is known here. */
  public boolean isWanted(AccessControl access) {
    BucketConfig bucket = bucket(access);
    return bucket != null && bucket.logging() != null;
  }

  private @Nullable BucketConfig bucket(AccessControl access) {
    String name = request.bucket();
    return name == null ? null : access.known(name);
  }

  /** Writes its lines when it has ended, if its bucket has a log. */
  public void writeAtEnd(Backend backend, AccessLog log) {
    BucketConfig bucket = bucket(backend.access());
    BucketLogging logging = bucket == null ? null : bucket.logging();
    if (bucket != null && logging != null) {
      exchange.onEnd(() -> write(backend, log, bucket, logging));
    }
  }

  private void write(Backend backend, AccessLog log, BucketConfig bucket, BucketLogging logging) {
    long nanos = System.nanoTime() - beginNanos;
    Instant begin = backend.clock().instant().minusNanos(nanos);
    Common common = new Common(bucket, begin, backend.config().region(), nanos);
    String name = bucket.row().getName();
    LogStream stream = LogStream.of(name, bucket.row().getOwner(), logging, begin);
    log.add(stream, whole(common), 1);
    for (AuditEvent.Part part : parts) {
      log.add(stream, line(common, part), 1); // one at a time: a thousand long ones are many bytes
    }
  }

  private record Common(BucketConfig bucket, Instant begin, String region, long nanos) {}

  /** What a line tells about the answer to the request, or to a part of it. */
  private record Told(
      String operation,
      @Nullable String key,
      int status,
      @Nullable String error,
      long sentBytes,
      long objectBytes,
      long totalMs,
      long turnMs,
      @Nullable String version) {}

  private byte[] whole(Common common) {
    HttpExchange.Outcome outcome = exchange.outcome();
    return line(
        common,
        new Told(
            LogOperations.of(request, exchange.method()),
            key(),
            outcome.status(),
            error,
            outcome.bodyBytes() == 0 ? -1 : outcome.bodyBytes(),
            objectBytes(),
            TimeUnit.NANOSECONDS.toMillis(common.nanos),
            turnMs(),
            version()));
  }

  private byte[] line(Common common, AuditEvent.Part part) {
    return line(
        common,
        new Told(
            LogOperations.DELETED_KEY,
            part.key(),
            part.status(),
            part.error(),
            -1,
            -1,
            -1,
            -1,
            part.versionId()));
  }

  private byte[] line(Common common, Told told) {
    HttpHeaders headers = exchange.headers();
    TlsParameters tls = exchange.tls();
    return new LogLine()
        .text(common.bucket.row().getOwner())
        .text(common.bucket.row().getName())
        .time(common.begin)
        .text(exchange.client().address())
        .text(requester())
        .text(exchange.requestId())
        .text(told.operation)
        .text(told.key == null ? null : Percent.encode(told.key))
        .quoted(requestLine())
        .number(told.status == 0 ? -1 : told.status)
        .text(told.error)
        .number(told.sentBytes)
        .number(told.objectBytes)
        .number(told.totalMs)
        .number(told.turnMs)
        .quoted(withoutSecrets(headers.get(HttpHeaderNames.REFERER, "")))
        .quoted(headers.get(HttpHeaderNames.USER_AGENT))
        .text(told.version)
        .text(exchange.hostId())
        .text(signature())
        .text(tls == null ? null : tls.cipher())
        .text(authentication())
        .text(headers.get(HttpHeaderNames.HOST))
        .text(tls == null ? null : tls.version())
        .text(null) // the ARN of an access point
        .text(null) // whether an ACL was needed
        .text(common.region)
        .end();
  }

  private @Nullable String key() {
    return switch (request) {
      case S3Request.KeyRequest about -> about.key();
      case S3Request.GetAcl get -> get.key();
      case S3Request.PutAcl put -> put.key();
      case S3Request.GetUnconfigured get -> get.key();
      default -> null;
    };
  }

  private @Nullable String requester() {
    Principal principal = caller == null ? null : caller.principal();
    if (principal == null) {
      return null;
    }
    return principal.requester() instanceof Requester.Root root
        ? root.canonicalId()
        : principal.arn();
  }

  private String requestLine() {
    HttpExchange sent = exchange instanceof PostForm form ? form.request() : exchange;
    String query = withoutSecrets(sent.rawQuery());
    return exchange.method()
        + " "
        + exchange.rawPath()
        + (query.isEmpty() ? "" : "?" + query)
        + " HTTP/1.1";
  }

  private static String withoutSecrets(String text) {
    return SECRETS.matcher(text).replaceAll("$1-");
  }

  private @Nullable String version() {
    String answered = answer == null ? null : answer.headers().get(VersionId.HEADER);
    if (answered != null) {
      return answered;
    }
    VersionRef asked = request instanceof S3Request.OfVersion of ? of.version() : null;
    return asked == null ? null : VersionId.of(asked);
  }

  /** Of the object that is read or written; negative: it is not known. */
  private long objectBytes() {
    HttpAnswer of = answer;
    if (of == null) {
      return -1;
    }
    return switch (request) {
      case S3Request.GetObject get -> sizeOfRead(of);
      case S3Request.HeadObject head -> sizeOfRead(of);
      case S3Request.PutObject put -> sentSize();
      case S3Request.UploadPart part -> sentSize();
      default -> -1;
    };
  }

  private static long sizeOfRead(HttpAnswer answer) {
    String range = answer.headers().get(HttpHeaderNames.CONTENT_RANGE);
    if (range != null) {
      return number(range.substring(range.indexOf('/') + 1));
    }
    String length = answer.headers().get(HttpHeaderNames.CONTENT_LENGTH);
    return switch (answer.body()) {
      case HttpAnswer.Streamed streamed -> streamed.length();
      case HttpAnswer.Bytes bytes -> bytes.content().length;
      case HttpAnswer.Empty empty -> length == null ? -1 : number(length);
    };
  }

  private long sentSize() {
    HttpHeaders headers = exchange.headers();
    String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    String decoded = headers.get(AmzHeaderNames.DECODED_CONTENT_LENGTH, length);
    return decoded == null ? -1 : number(decoded);
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text.trim());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** From the last byte of the request to the first of the answer: known of those without body. */
  private long turnMs() {
    return turnNanos < 0 || exchange.body().length() != 0
        ? -1
        : TimeUnit.NANOSECONDS.toMillis(turnNanos);
  }

  private @Nullable String signature() {
    return switch (fact("s3:signatureversion")) {
      case "AWS" -> "SigV2";
      case "AWS4-HMAC-SHA256" -> "SigV4";
      default -> null;
    };
  }

  private @Nullable String authentication() {
    return switch (fact("s3:authtype")) {
      case "REST-HEADER" -> "AuthHeader";
      case "REST-QUERY-STRING" -> "QueryString";
      default -> null;
    };
  }

  /** Empty: it has none. */
  private String fact(String name) {
    Caller sender = caller;
    List<String> values = sender == null ? List.of() : sender.facts().values(name);
    return values.isEmpty() ? "" : values.getFirst();
  }
}
