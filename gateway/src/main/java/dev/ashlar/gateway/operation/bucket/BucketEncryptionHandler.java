package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.encryption.BucketEncryption;
import dev.ashlar.gateway.encryption.BucketEncryption.Standard;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
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
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads and changes how the new objects of a bucket are encrypted. */
public record BucketEncryptionHandler(Backend backend) {
  private static final String ROOT = "ServerSideEncryptionConfiguration";
  private static final String STANDARD = "ApplyServerSideEncryptionByDefault";
  private static final String BUCKET_KEY = "BucketKeyEnabled";
  private static final String BLOCKED = "BlockedEncryptionTypes";
  private static final Set<String> OF_RULE = Set.of(STANDARD, BUCKET_KEY, BLOCKED);

  public HttpAnswer handle(S3Request.GetBucketEncryption request, Permit permit)
      throws S3Exception {
    BucketEncryption configured = permit.config().encryption();
    BucketEncryption encryption =
        configured == null ? new BucketEncryption(Standard.NONE, "", false, false) : configured;
    String algorithm =
        switch (encryption.standard()) {
          case NONE -> backend.encryptions().isStandard() ? "AES256" : null;
          case MASTER -> "AES256";
          case KMS -> "aws:kms";
          case UNKNOWN -> throw new S3Exception(S3Error.SERVICE_UNAVAILABLE);
        };
    if (algorithm == null && configured == null) {
      throw new S3Exception(S3Error.SERVER_SIDE_ENCRYPTION_CONFIGURATION_NOT_FOUND)
          .with("BucketName", request.bucket());
    }
    return Answers.xml(document(encryption, algorithm));
  }

  private static XmlWriter document(BucketEncryption encryption, @Nullable String algorithm) {
    XmlWriter xml = new XmlWriter().openRoot(ROOT).open("Rule");
    if (algorithm != null) {
      xml.open(STANDARD).element("SSEAlgorithm", algorithm);
      if (!encryption.kmsKeyId().isEmpty()) {
        xml.element("KMSMasterKeyID", encryption.kmsKeyId());
      }
      xml.close();
    }
    xml.element(BUCKET_KEY, encryption.bucketKey());
    if (encryption.blocksCustomerKeys()) {
      xml.open(BLOCKED).element("EncryptionType", "SSE-C").close();
    }
    return xml.close().close();
  }

  public HttpAnswer handle(S3Request.PutBucketEncryption request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    List<Element> rules = XmlReader.read(BodyIngest.document(body), ROOT).children();
    if (rules.size() != 1 || !rules.getFirst().name().equals("Rule")) {
      throw malformed();
    }
    BucketEncryption encryption = encryption(rules.getFirst());
    requirePossible(encryption);
    return put(request.bucket(), encryption.toDocument(), 200);
  }

  public HttpAnswer handle(S3Request.DeleteBucketEncryption request)
      throws S3Exception, MetadataUnavailableException {
    return put(request.bucket(), ByteString.EMPTY, 204);
  }

  private HttpAnswer put(String bucket, ByteString document, int status)
      throws S3Exception, MetadataUnavailableException {
    backend.putDocument(bucket, AccessDocument.ENCRYPTION.number(), document);
    return Answers.empty(status);
  }

  private static BucketEncryption encryption(Element rule) throws S3Exception {
    if (rule.children().isEmpty()) {
      throw malformed();
    }
    requireOnly(rule, OF_RULE);
    boolean bucketKey = flag(rule.childText(BUCKET_KEY));
    boolean blocks = blocksCustomerKeys(rule.child(BLOCKED));
    Element standard = rule.child(STANDARD);
    if (standard == null) {
      return new BucketEncryption(Standard.NONE, "", bucketKey, blocks);
    }
    requireOnly(standard, Set.of("SSEAlgorithm", "KMSMasterKeyID"));
    String keyId = standard.childText("KMSMasterKeyID");
    return switch (standard.required("SSEAlgorithm").strip()) {
      case "AES256" -> {
        if (keyId != null) {
          throw S3Exception.invalidArgument(
              "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or"
                  + " aws:kms:dsse",
              "ApplyServerSideEncryptionByDefault",
              "AES256");
        }
        yield new BucketEncryption(Standard.MASTER, "", bucketKey, blocks);
      }
      case "aws:kms" ->
          new BucketEncryption(Standard.KMS, keyId == null ? "" : keyId.strip(), bucketKey, blocks);
      case "aws:kms:dsse" -> throw new S3Exception(S3Error.NOT_IMPLEMENTED);
      default -> throw malformed();
    };
  }

  /** Every child has one of these names, and none comes twice. */
  private static void requireOnly(Element of, Set<String> names) throws S3Exception {
    List<String> present = of.children().stream().map(Element::name).toList();
    if (!names.containsAll(present) || Set.copyOf(present).size() != present.size()) {
      throw malformed();
    }
  }

  private static boolean flag(@Nullable String text) throws S3Exception {
    return switch (text == null ? "false" : text.strip()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw malformed();
    };
  }

  /** The types are those of S3: NONE blocks nothing. */
  private static boolean blocksCustomerKeys(@Nullable Element blocked) throws S3Exception {
    if (blocked == null) {
      return false;
    }
    boolean blocks = false;
    for (Element type : blocked.children()) {
      if (!type.name().equals("EncryptionType")) {
        throw malformed();
      }
      switch (type.text().strip()) {
        case "SSE-C" -> blocks = true;
        case "NONE" -> {}
        default -> throw malformed();
      }
    }
    if (blocked.children().isEmpty() || (blocks && blocked.children().size() > 1)) {
      throw malformed();
    }
    return blocks;
  }

  /** Otherwise every write would fail from now on, or be stored as it is by older gateways. */
  private void requirePossible(BucketEncryption encryption)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    Encryptions encryptions = backend.encryptions();
    switch (encryption.standard()) {
      case MASTER -> {
        if (encryptions.keys().masters().current() == null) {
          throw KeyWrapping.withoutMaster();
        }
      }
      case KMS -> encryptions.keys().kms().requireKnown(encryptions.named(encryption.kmsKeyId()));
      case NONE, UNKNOWN -> {
        return;
      }
    }
    backend.encryptionStart().require();
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }
}
