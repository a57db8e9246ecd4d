package dev.ashlar.importer.iam;

import dev.ashlar.importer.Side;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;

/** Posts signed forms. The SDK's module for IAM would be larger than all the rest. */
public final class SignedIam implements IamApi, AutoCloseable {
  private static final String VERSION = "2010-05-08";
  private static final int OK = 200;
  private static final Pattern CODE = Pattern.compile("<Code>([^<]*)</Code>");
  private static final Pattern MESSAGE = Pattern.compile("<Message>([^<]*)</Message>");

  private final Side.Access access;
  private final SdkHttpClient http;
  private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();

  public SignedIam(Side.Access access) {
    this.access = access;
    Apache5HttpClient.Builder builder = Apache5HttpClient.builder();
    TrustManager[] trusted = access.trusted();
    if (trusted != null) {
      builder.tlsTrustManagersProvider(() -> trusted);
    }
    this.http = builder.build();
  }

  @Override
  public String call(String action, Map<String, String> parameters) throws IOException {
    Map<String, String> all = new TreeMap<>(parameters);
    all.put("Action", action);
    all.put("Version", VERSION);
    byte[] form =
        all.entrySet().stream()
            .map(
                each ->
                    each.getKey()
                        + "="
                        + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&"))
            .getBytes(StandardCharsets.UTF_8);
    HttpExecuteResponse answer = http.prepareRequest(signed(form)).call();
    String document;
    try (InputStream body =
        answer.responseBody().isPresent()
            ? answer.responseBody().get()
            : new ByteArrayInputStream(new byte[0])) {
      document = new String(body.readAllBytes(), StandardCharsets.UTF_8);
    }
    int status = answer.httpResponse().statusCode();
    if (status != OK) {
      throw new RefusedException(
          found(CODE, document, "Status" + status), found(MESSAGE, document, ""));
    }
    return document;
  }

  private HttpExecuteRequest signed(byte[] form) {
    SdkHttpRequest request =
        SdkHttpRequest.builder()
            .method(SdkHttpMethod.POST)
            .uri(access.endpoint())
            .encodedPath("/")
            .putHeader("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
            .putHeader("Content-Length", "" + form.length)
            .build();
    ContentStreamProvider payload = ContentStreamProvider.fromByteArray(form);
    SignedRequest signed =
        signer.sign(
            r ->
                r.identity(identity())
                    .request(request)
                    .payload(payload)
                    .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "iam")
                    .putProperty(AwsV4HttpSigner.REGION_NAME, access.region()));
    return HttpExecuteRequest.builder()
        .request(signed.request())
        .contentStreamProvider(signed.payload().orElse(payload))
        .build();
  }

  private AwsCredentialsIdentity identity() {
    return access
        .sessionToken()
        .<AwsCredentialsIdentity>map(
            token -> AwsSessionCredentials.create(access.accessKey(), access.secretKey(), token))
        .orElseGet(() -> AwsBasicCredentials.create(access.accessKey(), access.secretKey()));
  }

  private static String found(Pattern pattern, String document, String otherwise) {
    Matcher matcher = pattern.matcher(document);
    return matcher.find() ? Objects.requireNonNull(matcher.group(1)) : otherwise;
  }

  @Override
  public void close() {
    http.close();
  }
}
