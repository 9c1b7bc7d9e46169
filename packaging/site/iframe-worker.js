// The search where pages are read from the disk: browsers start no worker there, so that it runs
// in a hidden frame. Messages are copies, and come later, as those of a worker do.

if (location.protocol === "file:") {
  const later = (deliver, data) => {
    const copy = structuredClone(data);
    setTimeout(() => deliver({ data: copy }));
  };

  window.Worker = class {
    constructor(url) {
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      this.inner = this.frame.contentWindow;
      this.inner.postMessage = (data) => later((message) => this.onmessage?.(message), data);
      const script = this.inner.document.createElement("script");
      script.src = url;
      this.isLoaded = new Promise((loaded) => (script.onload = loaded));
      this.inner.document.body.append(script);
    }

    postMessage(data) {
      this.isLoaded.then(() => later((message) => this.inner.onmessage?.(message), data));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
