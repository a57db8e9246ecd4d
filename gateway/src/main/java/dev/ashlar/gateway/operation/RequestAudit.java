package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.audit.AuditEvent.Source;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.operation.shared.OperationNames;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.protocol.message.VersionRef;
import org.jspecify.annotations.Nullable;

/** Tells the audit log of S3 requests. */
final class RequestAudit {
  static final String PREFLIGHT = "Preflight";
  private static final String ANONYMOUS = "anonymous";

  private RequestAudit() {}

  /** What is asked for. */
  static void describe(AuditEvent audit, S3Request request) {
    audit.operation(OperationNames.of(request));
    audit.object(
        request.bucket(), request instanceof S3Request.KeyRequest about ? about.key() : null);
    if (request instanceof S3Request.OfVersion of) {
      audit.version(id(of.version()));
    }
    switch (request) {
      case S3Request.CopyObject copy -> audit.source(source(copy.source()));
      case S3Request.UploadPartCopy copy -> audit.source(source(copy.source()));
      case S3Request.RenameObject rename ->
          audit.source(new Source(rename.bucket(), rename.source(), null));
      case S3Request.GetAcl get -> audit.object(get.bucket(), get.key());
      case S3Request.PutAcl put -> audit.object(put.bucket(), put.key());
      case S3Request.GetUnconfigured get -> audit.object(get.bucket(), get.key());
      default -> {}
    }
  }

  /** A preflight request, which has no signature. */
  static void describePreflight(AuditEvent audit, HttpExchange exchange) {
    audit.operation(PREFLIGHT);
    audit.unparsed(exchange.method(), exchange.rawPath());
    audit.sender(null, ANONYMOUS, null);
  }

  private static Source source(S3Request.CopySource source) {
    return new Source(source.bucket(), source.key(), id(source.version()));
  }

  private static @Nullable String id(@Nullable VersionRef version) {
    return version == null ? null : VersionId.of(version);
  }

  /** Who asks. */
  static void sender(AuditEvent audit, Caller caller) {
    Principal principal = caller.principal();
    if (principal == null) {
      audit.sender(null, ANONYMOUS, null);
    } else {
      audit.sender(principal.accountId(), principal.arn(), principal.accessKey());
    }
  }
}
