package dev.ashlar.gateway.operation.bucket;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.Versioning;
import org.jspecify.annotations.Nullable;

/** Tells and sets whether the versions of objects in a bucket are kept. */
public record BucketVersioningHandler(Backend backend) {
  private static final String CONFIGURATION = "VersioningConfiguration";
  private static final String ENABLED = "Enabled";
  private static final String SUSPENDED = "Suspended";

  public HttpAnswer handle(S3Request.GetBucketVersioning request, Permit permit) {
    XmlWriter xml = new XmlWriter().openRoot(CONFIGURATION);
    switch (permit.bucket().getVersioning()) {
      case VERSIONING_ENABLED -> xml.element("Status", ENABLED);
      case VERSIONING_SUSPENDED -> xml.element("Status", SUSPENDED);
      case VERSIONING_OFF, UNRECOGNIZED -> {
        // S3 answers an empty document.
      }
    }
    return Answers.xml(xml.close());
  }

  public HttpAnswer handle(S3Request.PutBucketVersioning request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Element configuration = XmlReader.read(BodyIngest.document(body), CONFIGURATION);
    Versioning versioning = versioning(configuration.childText("Status"));
    requireWithoutMfa(configuration.childText("MfaDelete"));
    backend.submit(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket(request.bucket())
                    .setVersioning(versioning)));
    return Answers.empty(200);
  }

  private static Versioning versioning(@Nullable String status) throws S3Exception {
    if (status == null) {
      throw new S3Exception(
          S3Error.ILLEGAL_VERSIONING_CONFIGURATION, "The Versioning element must be specified");
    }
    return switch (status.trim()) {
      case ENABLED -> Versioning.VERSIONING_ENABLED;
      case SUSPENDED -> Versioning.VERSIONING_SUSPENDED;
      default -> throw new S3Exception(S3Error.ILLEGAL_VERSIONING_CONFIGURATION);
    };
  }

  private static void requireWithoutMfa(@Nullable String mfaDelete) throws S3Exception {
    switch (mfaDelete == null ? "Disabled" : mfaDelete.trim()) {
      case "Disabled" -> {
        // Nothing is asked for.
      }
      case ENABLED ->
          throw new S3Exception(S3Error.NOT_IMPLEMENTED, "MFA delete is not implemented.");
      default -> throw new S3Exception(S3Error.MALFORMED_XML);
    }
  }
}
