package dev.ashlar.gateway.form;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.TlsParameters;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The upload of a file by an HTML form ("POST Object", Amazon S3 API Reference), read up to the
 * file. As an exchange it looks like a request with the file as its body and the fields as its
 * headers, so that what holds for headers of uploads holds for fields.
 */
public final class PostForm implements HttpExchange {
  /** All bytes before those of the file; the same number may follow them. */
  public static final int FIELD_BYTES_MAX = 20_480;

  private static final String FILE = "file";
  private static final String FILE_NAME_VARIABLE = "${filename}";
  private static final int BOUNDARY_CHARS_MAX = 70;

  /** Headers of the request that count beside the form. */
  private static final List<AsciiString> OF_REQUEST =
      List.of(
          HttpHeaderNames.HOST,
          HttpHeaderNames.USER_AGENT,
          HttpHeaderNames.REFERER,
          AmzHeaderNames.EXPECTED_BUCKET_OWNER);

  /** Fields of the signature, which are no headers of the upload. */
  private static final Set<String> OF_SIGNATURE =
      Set.of(
          "x-amz-algorithm",
          "x-amz-credential",
          "x-amz-date",
          "x-amz-security-token",
          "x-amz-signature");

  private static final Set<String> HEADERS =
      Set.of(
          "cache-control",
          "content-disposition",
          "content-encoding",
          "content-language",
          "content-md5",
          "content-type",
          "expires");

  private final HttpExchange request;
  private final String bucket;
  private final Map<String, String> fields;
  private final HttpHeaders headers;
  private final FormFile file;

  private PostForm(HttpExchange request, String bucket, Map<String, String> fields, FormFile file)
      throws S3Exception {
    this.request = request;
    this.bucket = bucket;
    this.fields = fields;
    this.headers = headers(request, fields);
    this.file = file;
  }

  /**
   * Reads the fields before the file.
   *
   * @param bucket to which it is posted
   * @throws S3Exception MalformedPOSTRequest, MaxPostPreDataLengthExceeded,
   *     IncorrectNumberOfFilesInPostRequest, InvalidArgument, or what reading the body throws
   */
  public static PostForm read(HttpExchange request, String bucket)
      throws S3Exception, InterruptedException {
    String boundary = boundary(request.headers().get(HttpHeaderNames.CONTENT_TYPE, ""));
    MultipartReader reader = new MultipartReader(request.body(), boundary, FIELD_BYTES_MAX);
    request.onEnd(reader::close);
    Map<String, String> fields = new LinkedHashMap<>();
    PartHead head = reader.next();
    while (head != null && !head.name().equals(FILE)) {
      if (fields.put(head.name(), utf8(reader.value())) != null) {
        throw S3Exception.invalidArgument(
            "POST requires that a field comes only once.", head.name(), "");
      }
      head = reader.next();
    }
    if (head == null) {
      throw FormFile.wrongNumber();
    }
    String key = fields.get("key");
    if (key != null) {
      fields.put("key", key.replace(FILE_NAME_VARIABLE, head.fileName()));
    }
    return new PostForm(request, bucket, fields, new FormFile(reader));
  }

  /** Whether a Content-Type is that of a form with files. */
  public static boolean isType(String contentType) {
    return contentType.toLowerCase(Locale.ROOT).startsWith("multipart/form-data");
  }

  private static String boundary(String contentType) throws S3Exception {
    for (String parameter : contentType.split(";", -1)) {
      String[] parts = parameter.split("=", 2);
      if (parts.length == 2 && parts[0].strip().equalsIgnoreCase("boundary")) {
        String text = parts[1].strip();
        boolean isQuoted = text.length() > 1 && text.startsWith("\"") && text.endsWith("\"");
        String boundary = isQuoted ? text.substring(1, text.length() - 1) : text;
        // With a line end in it, the end of a part could not be told from its content.
        boolean isUsable =
            !boundary.isEmpty()
                && boundary.length() <= BOUNDARY_CHARS_MAX
                && boundary.chars().allMatch(c -> c >= ' ' && c < 0x7F);
        if (isUsable) {
          return boundary;
        }
      }
    }
    throw MultipartReader.malformed();
  }

  static String utf8(byte[] bytes) throws S3Exception {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw MultipartReader.malformed();
    }
  }

  private static HttpHeaders headers(HttpExchange request, Map<String, String> fields)
      throws S3Exception {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (AsciiString name : OF_REQUEST) {
      headers.set(name, request.headers().getAll(name));
    }
    for (Map.Entry<String, String> field : fields.entrySet()) {
      String name = field.getKey();
      boolean isAmazon = name.startsWith("x-amz-") && !OF_SIGNATURE.contains(name);
      if (name.equals("acl")) {
        headers.set("x-amz-acl", headerValue(name, field.getValue()));
      } else if (isAmazon || HEADERS.contains(name)) {
        requireHeaderName(name);
        headers.set(name, headerValue(name, field.getValue()));
      }
    }
    return headers;
  }

  private static void requireHeaderName(String name) throws S3Exception {
    boolean isHeaderName =
        name.chars()
            .allMatch(
                c -> (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || "-_.".indexOf(c) >= 0);
    if (!isHeaderName) {
      throw S3Exception.unsupportedHeader(name);
    }
  }

  /** UTF-8 as the characters that HTTP carries. */
  private static String headerValue(String name, String value) throws S3Exception {
    if (value.chars().anyMatch(c -> (c < ' ' && c != '\t') || c == 0x7F)) {
      throw S3Exception.invalidArgument(
          "Header value cannot be represented using ISO-8859-1.", name, value);
    }
    return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1).strip();
  }

  /** The bucket to which it is posted. */
  public String bucket() {
    return bucket;
  }

  /**
   * The value of a field; null if it is not there.
   *
   * @param name in lower case
   */
  public @Nullable String field(String name) {
    return fields.get(name);
  }

  /**
   * The value of a field.
   *
   * @param name in lower case
   * @throws S3Exception InvalidArgument if it is not there before the file
   */
  public String requiredField(String name) throws S3Exception {
    String value = fields.get(name);
    if (value == null) {
      throw S3Exception.invalidArgument(
          "Bucket POST must contain a field named '"
              + name
              + "'.  If it is specified, please check the order of the fields.",
          name,
          "");
    }
    return value;
  }

  /** The names of all fields before the file, in lower case and in their order. */
  public Set<String> fieldNames() {
    return Collections.unmodifiableSet(fields.keySet());
  }

  /** The request that has the form as its body. */
  public HttpExchange request() {
    return request;
  }

  @Override
  public String method() {
    return request.method();
  }

  @Override
  public String rawPath() {
    return request.rawPath();
  }

  /** Empty: what the upload means is said in its fields. */
  @Override
  public String rawQuery() {
    return "";
  }

  @Override
  public HttpHeaders headers() {
    return headers;
  }

  @Override
  public FormFile body() {
    return file;
  }

  @Override
  public Client client() {
    return request.client();
  }

  @Override
  public String requestId() {
    return request.requestId();
  }

  @Override
  public @Nullable AuditEvent audit() {
    return request.audit();
  }

  @Override
  public @Nullable TlsParameters tls() {
    return request.tls();
  }

  @Override
  public String hostId() {
    return request.hostId();
  }

  @Override
  public Outcome outcome() {
    return request.outcome();
  }

  @Override
  public void onEnd(Runnable action) {
    request.onEnd(action);
  }
}
