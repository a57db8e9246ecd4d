package dev.ashlar.gateway.operation.bucket;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.access.AccessDocument;
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

/** Reads and changes who pays for the requests to a bucket. */
public record RequestPaymentHandler(Backend backend) {
  private static final String ROOT = "RequestPaymentConfiguration";
  private static final String REQUESTER = "Requester";
  private static final String OWNER = "BucketOwner";

  public static HttpAnswer handle(S3Request.GetBucketRequestPayment request, Permit permit) {
    String payer = permit.config().requesterPays() ? REQUESTER : OWNER;
    return Answers.xml(new XmlWriter().openRoot(ROOT).element("Payer", payer).close());
  }

  public HttpAnswer handle(S3Request.PutBucketRequestPayment request, RequestBody body)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    backend.putDocument(
        request.bucket(),
        AccessDocument.REQUESTER_PAYS.number(),
        stored(BodyIngest.document(body)));
    return Answers.empty(200);
  }

  /** Empty, which removes what is stored, if the owner pays. */
  private static ByteString stored(byte[] document) throws S3Exception {
    Element wanted = XmlReader.read(document, ROOT);
    if (wanted.children().size() != 1) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return switch (wanted.required("Payer").strip()) {
      case REQUESTER -> ByteString.copyFromUtf8(REQUESTER);
      case OWNER -> ByteString.EMPTY;
      default -> throw new S3Exception(S3Error.MALFORMED_XML);
    };
  }
}
