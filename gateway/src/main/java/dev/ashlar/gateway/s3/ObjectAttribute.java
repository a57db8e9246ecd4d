package dev.ashlar.gateway.s3;

/** The attributes that GetObjectAttributes can return. */
public enum ObjectAttribute {
  ETAG("ETag"),
  CHECKSUM("Checksum"),
  OBJECT_PARTS("ObjectParts"),
  STORAGE_CLASS("StorageClass"),
  OBJECT_SIZE("ObjectSize");

  private final String text;

  ObjectAttribute(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }
}
