package dev.ashlar.gateway.form;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;

/** A body of multipart/form-data, as browsers write it. */
public final class FormBody {
  static final String BOUNDARY = "----WebKitFormBoundaryX";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  public String contentType() {
    return "multipart/form-data; boundary=" + BOUNDARY;
  }

  public FormBody field(String name, String value) {
    return part("name=\"" + name + "\"", value.getBytes(UTF_8));
  }

  public FormBody file(String fileName, String content) {
    return file(fileName, content.getBytes(UTF_8));
  }

  public FormBody file(String fileName, byte[] content) {
    return part("name=\"file\"; filename=\"" + fileName + "\"", content);
  }

  FormBody part(String parameters, byte[] content) {
    return raw("--" + BOUNDARY + "\r\nContent-Disposition: form-data; " + parameters + "\r\n\r\n")
        .raw(content)
        .raw("\r\n");
  }

  FormBody raw(String text) {
    return raw(text.getBytes(UTF_8));
  }

  FormBody raw(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  /** Without the delimiter at the end. */
  byte[] open() {
    return out.toByteArray();
  }

  public byte[] bytes() {
    return raw("--" + BOUNDARY + "--\r\n").open();
  }
}
