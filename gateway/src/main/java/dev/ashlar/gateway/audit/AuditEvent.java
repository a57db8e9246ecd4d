package dev.ashlar.gateway.audit;

import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Exception;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the audit log is going to tell about one request. Used by the request's thread only. The
 * names of the fields of a line are an interface: docs/reference/audit-log.md.
 */
public final class AuditEvent {
  /** Longer than any name that S3 has. */
  private static final int CHARACTERS_MAX = 2048;

  private static final int KEY_CHARACTERS_MAX = 1024;
  private static final int USER_AGENT_CHARACTERS_MAX = 256;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private final Origin origin;
  private final long beginMs;
  private final long beginNanos;
  private @Nullable String operation;
  private @Nullable String bucket;
  private @Nullable String key;
  private @Nullable String versionId;
  private @Nullable Source source;
  private @Nullable String method;
  private @Nullable String path;
  private final Map<String, String> parameters = new TreeMap<>();
  private @Nullable String account;
  private @Nullable String principal;
  private @Nullable String accessKey;
  private boolean allowed;
  private @Nullable Denial denial;
  private int status;
  private @Nullable String error;
  private boolean aborted;
  private long receivedBytes;
  private long sentBytes;
  private final List<Part> parts = new ArrayList<>(0);

  /**
   * Where a request comes from.
   *
   * @param port that it came to: s3 or management
   * @param requestId null: the port gives none
   * @param remote address of the client
   * @param tls whether the connection is encrypted; null: it is not told
   * @param userAgent null: none was sent
   */
  public record Origin(
      String port,
      @Nullable String requestId,
      String remote,
      @Nullable Boolean tls,
      @Nullable String userAgent) {}

  /** The object that a request copies or renames. */
  public record Source(String bucket, String key, @Nullable String versionId) {}

  /**
   * What a request did to one of several keys; it gets a line of its own.
   *
   * @param isAllowed false: denied, or failed before that was decided
   * @param denial null: it was not denied
   * @param error null: it succeeded
   */
  public record Part(
      String operation,
      String key,
      @Nullable String versionId,
      boolean isAllowed,
      @Nullable Denial denial,
      int status,
      @Nullable String error) {}

  public AuditEvent(Origin origin, long nowMs, long nowNanos) {
    this.origin = origin;
    this.beginMs = nowMs;
    this.beginNanos = nowNanos;
  }

  /** Names what is asked for; without that, the request is not in the log. */
  public void operation(String name) {
    operation = name;
  }

  public void object(@Nullable String ofBucket, @Nullable String underKey) {
    bucket = ofBucket;
    key = underKey;
  }

  public void version(@Nullable String id) {
    if (id != null) {
      versionId = id;
    }
  }

  public void source(Source from) {
    source = from;
  }

  /** Shows the request as it was sent, where it means nothing else. */
  public void unparsed(String sentMethod, String sentPath) {
    method = sentMethod;
    path = sentPath;
  }

  /** Adds a parameter, which must not be a secret. */
  public void parameter(String name, String value) {
    parameters.put(name, value);
  }

  /**
   * Names the sender.
   *
   * @param ofAccount null: anonymous
   * @param withAccessKey null: without a signature
   */
  public void sender(@Nullable String ofAccount, String named, @Nullable String withAccessKey) {
    account = ofAccount;
    principal = named;
    accessKey = withAccessKey;
  }

  /** The sender may do it. */
  public void allowed() {
    allowed = true;
  }

  public void failed(S3Exception e) {
    Denial why = e.denial();
    failed(e.error().code(), why == null ? usual(e) : why);
    String claimed = e.details().get("AWSAccessKeyId");
    if (accessKey == null && claimed != null) {
      accessKey = claimed;
    }
  }

  private @Nullable Denial usual(S3Exception e) {
    return switch (e.error()) {
      case INVALID_ACCESS_KEY_ID,
          INVALID_TOKEN,
          EXPIRED_TOKEN,
          SIGNATURE_DOES_NOT_MATCH,
          REQUEST_TIME_TOO_SKEWED ->
          Denial.AUTHENTICATION;
      case ACCESS_DENIED -> principal == null ? Denial.AUTHENTICATION : Denial.OPERATION;
      default -> null;
    };
  }

  /**
   * @param code of the error that is answered
   * @param why null: it is not denied
   */
  public void failed(String code, @Nullable Denial why) {
    error = code;
    denial = why;
  }

  public void status(int answered) {
    status = answered;
  }

  public void received(long bytes) {
    receivedBytes += bytes;
  }

  public void sent(long bytes) {
    sentBytes += bytes;
  }

  /** The client did not get the whole answer. */
  public void aborted() {
    aborted = true;
  }

  /** A request that is decided about part by part is allowed if one of them is. */
  public void part(Part part) {
    parts.add(part);
    allowed |= part.isAllowed;
  }

  boolean isComplete() {
    return operation != null;
  }

  /**
   * The lines of the log, made one by one: of the request, then of its parts.
   *
   * @param node null: the process has no name
   */
  Stream<String> lines(@Nullable String node, long nowNanos) {
    return Stream.concat(
        Stream.of(whole(node, nowNanos)), parts.stream().map(part -> line(node, part)));
  }

  private String whole(@Nullable String node, long nowNanos) {
    JsonLine line =
        begin(node)
            .text("remote", origin.remote)
            .flag("tls", origin.tls)
            .text("userAgent", origin.userAgent, USER_AGENT_CHARACTERS_MAX)
            .text("account", account)
            .text("principal", principal)
            .text("accessKey", accessKey)
            .text("operation", operation)
            .text("bucket", bucket);
    line.text("key", key, KEY_CHARACTERS_MAX).text("versionId", versionId);
    if (source != null) {
      line.text("sourceBucket", source.bucket);
      line.text("sourceKey", source.key, KEY_CHARACTERS_MAX);
      line.text("sourceVersionId", source.versionId);
    }
    line.texts("parameters", parameters).text("method", method).text("path", path);
    decision(line, allowed, denial());
    if (status > 0) {
      line.number("status", status);
    }
    line.text("error", error);
    if (aborted) {
      line.flag("aborted", true);
    }
    line.number("receivedBytes", receivedBytes).number("sentBytes", sentBytes);
    return line.millis("durationMs", nowNanos - beginNanos).end();
  }

  /** What denied the request; of one without a part that is allowed, what denied the first. */
  private @Nullable Denial denial() {
    if (denial != null || allowed) {
      return denial;
    }
    for (Part part : parts) {
      if (part.denial != null) {
        return part.denial;
      }
    }
    return null;
  }

  /** Without what the line of the request tells: there may be a thousand parts. */
  private String line(@Nullable String node, Part part) {
    JsonLine line = begin(node).text("operation", part.operation).text("bucket", bucket);
    line.text("key", part.key, KEY_CHARACTERS_MAX).text("versionId", part.versionId);
    decision(line, part.isAllowed, part.denial);
    return line.number("status", part.status).text("error", part.error).end();
  }

  private JsonLine begin(@Nullable String node) {
    return new JsonLine(CHARACTERS_MAX)
        .text("time", TIME.format(Instant.ofEpochMilli(beginMs)))
        .text("port", origin.port)
        .text("node", node)
        .text("requestId", origin.requestId);
  }

  private static void decision(JsonLine line, boolean allowed, @Nullable Denial denial) {
    if (denial != null) {
      line.text("decision", "denied").text("deniedBy", denial.word());
    } else {
      line.text("decision", allowed ? "allowed" : "undecided");
    }
  }
}
