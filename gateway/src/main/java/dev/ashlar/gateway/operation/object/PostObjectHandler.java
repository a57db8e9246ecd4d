package dev.ashlar.gateway.operation.object;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.auth.Authenticator.PayloadBody;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.gateway.operation.shared.ErrorMapping;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.s3.S3Request;
import dev.ashlar.gateway.uri.Percent;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.message.ChecksumAlgorithm;

/** Stores the file of a form, as PutObject stores its body, and answers a browser. */
public record PostObjectHandler(Backend backend) {
  /**
   * @param bucketUrl URL of the bucket, without the slash at its end
   */
  public HttpAnswer handle(
      S3Request.PostObject request, Permit permit, PayloadBody body, String bucketUrl)
      throws S3Exception, UnavailableException, InterruptedException {
    BodyIngest.chooseChecksum(body, ChecksumAlgorithm.CHECKSUM_NONE, request.put().announced());
    PutObjectHandler.Stored stored =
        new PutObjectHandler(backend).store(request.put(), permit, body);
    ErrorMapping.requireOk(stored.result());
    HttpAnswer answer = PutObjectHandler.answer(request.put(), permit, stored);
    String etag = Etags.quote(stored.summary().getEtag());
    if (!request.redirect().isEmpty()) {
      answer.headers().set("Location", redirect(request, etag));
      return Answers.empty(303, answer.headers());
    }
    String url = bucketUrl + "/" + Percent.encode(request.key());
    answer.headers().set("Location", url);
    if (request.status() != 201) {
      return Answers.empty(request.status(), answer.headers());
    }
    answer.headers().set("Content-Type", "application/xml");
    return new HttpAnswer(
        201, answer.headers(), new HttpAnswer.Bytes(document(request, url, etag)));
  }

  /** In front of a fragment, which the server of the URL would not get. */
  private static String redirect(S3Request.PostObject request, String etag) {
    String url = request.redirect();
    int fragment = url.indexOf('#');
    String base = fragment < 0 ? url : url.substring(0, fragment);
    return base
        + (base.indexOf('?') < 0 ? "?" : "&")
        + "bucket="
        + Percent.encode(request.bucket())
        + "&key="
        + Percent.encode(request.key())
        + "&etag="
        + Percent.encode(etag)
        + (fragment < 0 ? "" : url.substring(fragment));
  }

  private static byte[] document(S3Request.PostObject request, String url, String etag) {
    return new XmlWriter()
        .open("PostResponse") // S3 gives it no namespace
        .element("Location", url)
        .element("Bucket", request.bucket())
        .element("Key", request.key())
        .element("ETag", etag)
        .close()
        .toBytes();
  }
}
