package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.Precondition;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads what the fields of a form ask for. */
final class FormRequests {
  private static final String ALGORITHM = "x-amz-checksum-algorithm";

  private FormRequests() {}

  static S3Request parse(PostForm form) throws S3Exception {
    for (String name : form.fieldNames()) {
      SupportedHeaders.requireField(name);
    }
    HttpHeaders headers = form.headers();
    form.body().bound(0, SizeLimits.UPLOAD_BYTES_MAX);
    NewFacts given = new NewFacts(tags(form), LockValues.of(headers));
    if (given.asksForLock()) {
      ObjectRequestParser.requireDigest(headers);
    }
    return new S3Request.PostObject(
        new S3Request.PutObject(
            form.bucket(),
            key(form),
            RequestHeaders.attributes(headers),
            form.field("x-amz-storage-class"),
            given,
            Precondition.getDefaultInstance(),
            checksum(headers),
            AclHeaders.parse(headers),
            EncryptionFields.of(headers)),
        redirect(form),
        status(form));
  }

  private static String key(PostForm form) throws S3Exception {
    String key = form.requiredField("key");
    if (key.isEmpty()) {
      throw S3Exception.invalidArgument("User key must have a length greater than 0.", "key", "");
    }
    RequestTarget.checkLength(key);
    return key;
  }

  private static TagSet tags(PostForm form) throws S3Exception {
    String document = form.field("tagging");
    return document == null
        ? TagSet.NONE
        : TagSet.of(document.getBytes(StandardCharsets.UTF_8), TagSet.OBJECT_TAGS_MAX);
  }

  /** The algorithm of the checksum that the form brings, or only names. */
  private static ChecksumAlgorithm checksum(HttpHeaders headers) throws S3Exception {
    ChecksumAlgorithm brought = Checksums.announced(headers);
    String name = headers.get(ALGORITHM);
    if (name == null) {
      return brought;
    }
    ChecksumAlgorithm named = Checksums.named(name);
    if (brought != ChecksumAlgorithm.CHECKSUM_NONE && brought != named) {
      throw Checksums.mismatch(named, brought);
    }
    return named;
  }

  /** S3 ignores what it cannot send a browser to. The field without the prefix is the older one. */
  private static String redirect(PostForm form) {
    String url = form.field("success_action_redirect");
    url = url == null ? form.field("redirect") : url;
    return url != null && isUrl(url) ? url : "";
  }

  private static boolean isUrl(String text) {
    try {
      URI url = new URI(text);
      @Nullable String scheme = url.getScheme();
      return url.getHost() != null
          && ("http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme))
          && text.chars().allMatch(c -> c > ' ' && c < 0x7F);
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static int status(PostForm form) {
    String status = form.field("success_action_status");
    return "200".equals(status) ? 200 : "201".equals(status) ? 201 : 204;
  }
}
