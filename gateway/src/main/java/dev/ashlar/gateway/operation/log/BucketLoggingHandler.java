package dev.ashlar.gateway.operation.log;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.access.BucketLogging;
import dev.ashlar.gateway.access.BucketLogging.KeyFormat;
import dev.ashlar.gateway.access.acl.Acl;
import dev.ashlar.gateway.access.acl.AclRequest;
import dev.ashlar.gateway.access.policy.decision.AclPermission;
import dev.ashlar.gateway.access.policy.decision.ObjectOwnership;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.access.AclDocuments;
import dev.ashlar.gateway.operation.shared.Acls;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.DisplayNames;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads and changes where the log of the requests to a bucket goes. */
public record BucketLoggingHandler(Backend backend) {
  private static final String ROOT = "BucketLoggingStatus";

  /** In UTF-8, so that the keys that begin so are none too long. */
  private static final int PREFIX_BYTES_MAX = 800;

  public HttpAnswer handle(S3Request.GetBucketLogging request, Permit permit)
      throws MetadataUnavailableException {
    XmlWriter xml = new XmlWriter().openRoot(ROOT);
    BucketLogging logging = permit.config().logging();
    if (logging != null) {
      xml.open("LoggingEnabled").element("TargetBucket", logging.bucket());
      if (!logging.grants().grants().isEmpty()) {
        xml.open("TargetGrants");
        AclDocuments.write(
            xml, logging.grants().grants(), new DisplayNames(backend, permit.caller()));
        xml.close();
      }
      KeyFormat format = logging.keyFormat();
      boolean isImplied =
          format == KeyFormat.UNSPECIFIED && backend.config().answers().loggingIsPlain();
      writeKeyFormat(xml, isImplied ? KeyFormat.SIMPLE : format);
      xml.element("TargetPrefix", logging.prefix()).close();
    }
    return Answers.xml(xml.close());
  }

  private static void writeKeyFormat(XmlWriter xml, KeyFormat format) {
    if (format == KeyFormat.UNSPECIFIED) {
      return;
    }
    xml.open("TargetObjectKeyFormat");
    switch (format) {
      case UNSPECIFIED, SIMPLE -> xml.open("SimplePrefix").close();
      case EVENT_TIME ->
          xml.open("PartitionedPrefix").element("PartitionDateSource", "EventTime").close();
      case DELIVERY_TIME ->
          xml.open("PartitionedPrefix").element("PartitionDateSource", "DeliveryTime").close();
    }
    xml.close();
  }

  public HttpAnswer handle(S3Request.PutBucketLogging request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element status = XmlReader.read(BodyIngest.document(body), ROOT);
    Element enabled = status.child("LoggingEnabled");
    if (status.children().size() > 1 || (enabled == null && !status.children().isEmpty())) {
      throw malformed();
    }
    ByteString document =
        enabled == null ? ByteString.EMPTY : logging(enabled, permit).toDocument();
    backend.putDocument(request.bucket(), AccessDocument.LOGGING.number(), document);
    return Answers.empty(200);
  }

  private BucketLogging logging(Element enabled, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    String bucket = enabled.required("TargetBucket").strip();
    String prefix = enabled.required("TargetPrefix");
    if (prefix.getBytes(StandardCharsets.UTF_8).length > PREFIX_BYTES_MAX) {
      throw S3Exception.invalidArgument(
          "The prefix is longer than " + PREFIX_BYTES_MAX + " bytes", "TargetPrefix", prefix);
    }
    KeyFormat format = keyFormat(enabled.child("TargetObjectKeyFormat"));
    LogTargets targets = new LogTargets(backend);
    String owner = permit.bucket().getOwner();
    LogTargets.Source source = new LogTargets.Source(permit.bucket().getName(), owner);
    BucketConfig target = targets.require(source, targets.account(owner), bucket, prefix);
    if (backend.config().answers().loggingIsPlain()) {
      LogTargets.requirePlain(source, target);
      return new BucketLogging(bucket, prefix, format, Acl.EMPTY);
    }
    return new BucketLogging(
        bucket, prefix, format, grants(enabled.child("TargetGrants"), target, permit));
  }

  private static KeyFormat keyFormat(@Nullable Element format) throws S3Exception {
    if (format == null) {
      return KeyFormat.UNSPECIFIED;
    }
    Element partitioned = format.child("PartitionedPrefix");
    if (format.children().size() != 1
        || (partitioned == null && format.child("SimplePrefix") == null)) {
      throw malformed();
    }
    if (partitioned == null) {
      return KeyFormat.SIMPLE;
    }
    String source = partitioned.childText("PartitionDateSource");
    return switch (source == null ? "DeliveryTime" : source.strip()) {
      case "EventTime" -> KeyFormat.EVENT_TIME;
      case "DeliveryTime" -> KeyFormat.DELIVERY_TIME;
      default -> throw malformed();
    };
  }

  private Acl grants(@Nullable Element list, BucketConfig target, Permit permit)
      throws S3Exception, MetadataUnavailableException {
    if (list == null || list.children().isEmpty()) {
      return Acl.EMPTY;
    }
    if (target.ownershipInForce() == ObjectOwnership.BUCKET_OWNER_ENFORCED) {
      throw new S3Exception(S3Error.ACCESS_CONTROL_LIST_NOT_SUPPORTED);
    }
    AclRequest.Grants grants = AclDocuments.grants(list);
    for (AclRequest.Written grant : grants.grants()) {
      if (!isOfLogs(grant.permission())) {
        throw malformed();
      }
    }
    return new Acls(backend, permit.caller(), target).ofObject(grants, target.row().getOwner());
  }

  private static boolean isOfLogs(AclPermission permission) {
    return switch (permission) {
      case READ, WRITE, FULL_CONTROL -> true;
      case READ_ACP, WRITE_ACP -> false;
    };
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }
}
