package dev.ashlar.gateway.operation.object;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.operation.shared.FactChanges;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.ObjectFacts;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Seals the data key of a version with another key. Its bytes, ETag and times stay. */
public record ObjectEncryptionHandler(Backend backend) {
  public HttpAnswer handle(
      S3Request.UpdateObjectEncryption request, Permit permit, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Encryption wanted = wanted(XmlReader.read(BodyIngest.document(body), "ObjectEncryption"));
    ErrorMapping.requireOk(
        new FactChanges(backend)
            .set(
                request.stored(),
                permit,
                permit.caller(),
                request.needs(),
                (command, decided) -> {
                  ByteString present = present(decided.object().object().getFacts());
                  command
                      .setExpectedWrappedKey(present)
                      .setWrappedKey(backend.encryptions().keys().rewrap(present, null, wanted));
                }));
    return Answers.empty(200);
  }

  private static ByteString present(ObjectFacts facts) throws S3Exception {
    if (facts.getRunsCount() == 0) {
      throw S3Exception.invalidRequest(
          "The UpdateObjectEncryption operation doesn't support unencrypted source objects. Only"
              + " source objects encrypted with SSE-S3 or SSE-KMS are supported.");
    }
    if (EncryptionHeaders.isOfCustomer(facts)) {
      throw S3Exception.invalidRequest(
          "The UpdateObjectEncryption operation doesn't support source objects with the encryption"
              + " type DSSE-KMS or SSE-C. Only source objects encrypted with SSE-S3 or SSE-KMS are"
              + " supported.");
    }
    return facts.getWrappedKey();
  }

  private Encryption wanted(Element document) throws S3Exception {
    if (document.children().size() != 1) {
      throw noType();
    }
    Element type = document.children().getFirst();
    return switch (type.name()) {
      case "SSE-S3" -> new Encryption.Master();
      case "SSE-KMS" -> kms(type);
      default -> throw noType();
    };
  }

  private Encryption kms(Element type) throws S3Exception {
    for (Element field : type.children()) {
      if (!Set.of("KMSKeyArn", "BucketKeyEnabled").contains(field.name())) {
        throw new S3Exception(S3Error.MALFORMED_XML);
      }
    }
    String key = type.childText("KMSKeyArn");
    if (key == null || key.isBlank()) {
      throw S3Exception.invalidRequest(
          "Requests that modify an object's encryption type to SSE-KMS require an Amazon Web"
              + " Services KMS key Amazon Resource Name (ARN). Modify the request to specify a KMS"
              + " key ARN, and then try again.");
    }
    return new Encryption.Kms(
        backend.encryptions().named(key),
        ByteString.EMPTY,
        flag(type.childText("BucketKeyEnabled")));
  }

  private static boolean flag(@Nullable String text) throws S3Exception {
    return switch (text == null ? "false" : text.strip()) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw S3Exception.invalidRequest(
              "The BucketKeyEnabled value isn't valid. Valid values are true or false. Modify the"
                  + " request to specify a valid value, and then try again.");
    };
  }

  private static S3Exception noType() {
    return S3Exception.invalidRequest(
        "Requests that modify an object encryption configuration require a valid new encryption"
            + " type. Valid values are SSES3 and SSEKMS.");
  }
}
